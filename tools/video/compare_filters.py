#!/usr/bin/env python3
"""Runs FFmpeg's ten Vulkan filters on a generated clip, on two drivers, and compares the pictures and the speed.

    tools/video/compare_filters.py build/release/icd/pumice_icd.json [OTHER_ICD.json | cpu]

Needs ffmpeg (Debian's package) built with Vulkan filters; the other driver is Mesa's lavapipe unless it is named;
`cpu` compares with FFmpeg's own filters of the same settings. Exit code 1 if a filter fails or is further than --least dB from the other driver's pictures. --pictures FILE.png keeps the
first driver's first picture of each filter, side by side in the order of the list.
"""
import argparse
import math
import os
import subprocess
import sys
import tempfile
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

# FFmpeg's filters of the same meaning; it has none for chromatic aberration.
CPU_FILTERS = {
    "hflip_vulkan": "hflip",
    "vflip_vulkan": "vflip",
    "flip_vulkan": "hflip,vflip",
    "transpose_vulkan=dir=clock": "transpose=dir=clock",
    "avgblur_vulkan=sizeX=3:sizeY=3": "avgblur=sizeX=3:sizeY=3",
    "gblur_vulkan=sigma=1.0": "gblur=sigma=1.0:steps=6",
    f"scale_vulkan=w={SIZE[0] // 2}:h={SIZE[1] // 2}": f"scale=w={SIZE[0] // 2}:h={SIZE[1] // 2}:flags=bilinear",
    "overlay_vulkan=x=20:y=30": "overlay=x=20:y=30:format=auto",
    "blend_vulkan=all_mode=multiply": "blend=all_mode=multiply",
}


def source(name, width, height, frames):
    return ["-f", "lavfi", "-i", f"{name}=size={width}x{height}:rate=25:duration={frames / 25}"]


def run(icd, pixel_format, filter_text, frames):
    """The raw pictures that come out, and the seconds that it took; without a driver, FFmpeg's own filter's."""
    two = filter_text.startswith(("overlay", "blend"))
    filter_name = filter_text if icd else CPU_FILTERS[filter_text]
    command = ["ffmpeg", "-hide_banner", "-loglevel", "error"]
    if icd:
        upload, download = f"format={pixel_format},hwupload", f"hwdownload,format={pixel_format}"
        command += ["-init_hw_device", "vulkan=vk:0", "-filter_hw_device", "vk"]
    else:
        upload, download = f"format={pixel_format}", f"format={pixel_format}"
    command += source("testsrc2", *SIZE, frames)
    if two:
        small = (200, 160) if filter_text.startswith("overlay") else SIZE
        command += source("testsrc", *small, frames)
        command += ["-filter_complex", f"[0]{upload}[a];[1]{upload}[b];[a][b]{filter_name},{download}"]
    else:
        command += ["-vf", f"{upload},{filter_name},{download}"]
    environment = dict(os.environ, VK_ICD_FILENAMES=icd or "", VK_DRIVER_FILES=icd or "")
    start = time.monotonic()
    done = subprocess.run(command + ["-f", "rawvideo", "-"], env=environment, capture_output=True, timeout=600)
    if done.returncode != 0:
        sys.stderr.write(done.stderr.decode(errors="replace"))
    return done.stdout, time.monotonic() - start


def size_after(filter_text):
    """Width and height of the pictures that come out."""
    if filter_text.startswith("transpose"):
        return SIZE[1], SIZE[0]
    return (SIZE[0] // 2, SIZE[1] // 2) if filter_text.startswith("scale") else SIZE


def keep_picture(path, pictures, pixel_format, filter_text):
    """The first of the raw pictures as a small PNG."""
    width, height = size_after(filter_text)
    small = "scale=256:192:force_original_aspect_ratio=decrease,pad=264:200:(ow-iw)/2:(oh-ih)/2:white"
    subprocess.run(["ffmpeg", "-loglevel", "error", "-y", "-f", "rawvideo", "-pix_fmt", pixel_format, "-s", f"{width}x{height}",
                    "-i", "-", "-frames:v", "1", "-vf", small, path], input=pictures, check=True)


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
    parser.add_argument("--pictures", metavar="FILE.png", help="where to put a picture of each filter's work")
    arguments = parser.parse_args()
    bad = 0
    kept = tempfile.TemporaryDirectory()
    print(f"{'filter':34} {'PSNR, dB':>9} {'fps':>8} {'other fps':>10}")
    other = None if arguments.other == "cpu" else arguments.other
    for number, text in enumerate(FILTERS):
        if other is None and text not in CPU_FILTERS:
            continue
        pictures, seconds = run(os.path.abspath(arguments.icd), arguments.format, text, arguments.frames)
        others, other_seconds = run(other, arguments.format, text, arguments.frames)
        quality = decibels(pictures, others) if pictures and others else 0.0
        bad += quality < arguments.least
        if arguments.pictures and pictures:
            keep_picture(f"{kept.name}/{number}.png", pictures, arguments.format, text)
        print(f"{text:34} {quality:9.1f} {arguments.frames / seconds:8.1f} {arguments.frames / other_seconds:10.1f}", flush=True)
    if arguments.pictures and not bad:
        subprocess.run(["ffmpeg", "-loglevel", "error", "-y", "-i", f"{kept.name}/%d.png", "-filter_complex", "tile=5x2",
                        "-frames:v", "1", arguments.pictures], check=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
