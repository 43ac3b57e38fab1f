#!/usr/bin/env python3
"""rtsp_server.py FOLDER PORT FPS: serves FOLDER/00000.jpg and on as Motion JPEG at rtsp://127.0.0.1:PORT/camera.

rtsp_server.py --check: says what is missing to do that; exit status 0 where nothing is.
"""
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer

ELEMENTS = ["multifilesrc", "jpegdec", "videoconvert", "videorate", "identity", "jpegenc", "rtpjpegpay"]

Gst.init(None)
if sys.argv[1:] == ["--check"]:
    missing = [name for name in ELEMENTS if Gst.ElementFactory.find(name) is None]
    sys.exit(f"missing: {', '.join(missing)}" if missing else 0)
folder, port, fps = sys.argv[1:4]
server = GstRtspServer.RTSPServer.new()
server.set_address("127.0.0.1")
server.set_service(port)
factory = GstRtspServer.RTSPMediaFactory.new()
factory.set_launch(
    f'( multifilesrc location="{folder}/%05d.jpg" caps="image/jpeg,framerate={fps}/1" do-timestamp=true '
    f"! jpegdec ! videoconvert ! videorate ! identity sync=true ! jpegenc quality=92 ! rtpjpegpay name=pay0 )"
)
factory.set_shared(True)
server.get_mount_points().add_factory("/camera", factory)
server.attach(None)
GLib.MainLoop().run()
