#!/usr/bin/env python3
"""Runs FFmpeg's ten Vulkan filters on a generated clip, on two drivers, and compares the pictures and the speed.

    tools/video/compare_filters.py build/release/icd/pumice_icd.json [OTHER_ICD.json]

Needs ffmpeg (Debian's package) built with Vulkan filters; the other driver is Mesa's lavapipe unless it is named. Exit
code 1 if a filter fails or is further than --least dB from the other driver's pictures.
"""
import argparse
import math
import os
import subprocess
import sys
import time

LAVAPIPE = "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json"
SIZE = (642, 482)  # no multiple of a workgroup
FILTERS = [
    "hflip_vulkan",
    "vflip_vulkan",
    "flip_vulkan",
    "transpose_vulkan=dir=clock",
    "avgblur_vulkan=sizeX=3:sizeY=3",
    "gblur_vulkan=sigma=1.0",
    f"scale_vulkan=w={SIZE[0] // 2}:h={SIZE[1] // 2}",
    "chromaber_vulkan=dist_x=1:dist_y=1",
    "overlay_vulkan=x=20:y=30",
    "blend_vulkan=all_mode=multiply",
]


def source(name, width, height, frames):
    return ["-f", "lavfi", "-i", f"{name}=size={width}x{height}:rate=25:duration={frames / 25}"]


def run(icd, pixel_format, filter_text, frames):
    """The raw pictures that come out, and the seconds that it took."""
    two = filter_text.startswith(("overlay", "blend"))
    upload = f"format={pixel_format},hwupload"
    download = f"hwdownload,format={pixel_format}"
    command = ["ffmpeg", "-hide_banner", "-loglevel", "error", "-init_hw_device", "vulkan=vk:0", "-filter_hw_device", "vk"]
    command += source("testsrc2", *SIZE, frames)
    if two:
        small = (200, 160) if filter_text.startswith("overlay") else SIZE
        command += source("testsrc", *small, frames)
        command += ["-filter_complex", f"[0]{upload}[a];[1]{upload}[b];[a][b]{filter_text},{download}"]
    else:
        command += ["-vf", f"{upload},{filter_text},{download}"]
    environment = dict(os.environ, VK_ICD_FILENAMES=icd, VK_DRIVER_FILES=icd, PUMICE_API_VERSION="1.3")
    start = time.monotonic()
    done = subprocess.run(command + ["-f", "rawvideo", "-"], env=environment, capture_output=True, timeout=600)
    if done.returncode != 0:
        sys.stderr.write(done.stderr.decode(errors="replace"))
    return done.stdout, time.monotonic() - start


def decibels(a, b):
    """Peak signal to noise ratio; infinite for the same bytes, 0 for pictures of different sizes."""
    if a == b:
        return math.inf
    if len(a) != len(b):
        return 0.0
    error = sum((x - y) ** 2 for x, y in zip(a, b)) / len(a)
    return 10 * math.log10(255 * 255 / error)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("icd")
    parser.add_argument("other", nargs="?", default=LAVAPIPE)
    parser.add_argument("--format", default="rgba", help="pixel format of the pictures, for example yuv420p")
    parser.add_argument("--frames", type=int, default=5)
    parser.add_argument("--least", type=float, default=50.0, help="dB")
    arguments = parser.parse_args()
    bad = 0
    print(f"{'filter':34} {'PSNR, dB':>9} {'fps':>8} {'other fps':>10}")
    for text in FILTERS:
        pictures, seconds = run(os.path.abspath(arguments.icd), arguments.format, text, arguments.frames)
        others, other_seconds = run(arguments.other, arguments.format, text, arguments.frames)
        quality = decibels(pictures, others) if pictures and others else 0.0
        bad += quality < arguments.least
        print(f"{text:34} {quality:9.1f} {arguments.frames / seconds:8.1f} {arguments.frames / other_seconds:10.1f}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
