"""Keys one by one, each with its moment: xdotool needs a process for each."""
import ctypes
import time

SHIFT = 0xFFE1
NAMED = {"Return": 0xFF0D, "Escape": 0xFF1B, "F6": 0xFFC3, "Page_Up": 0xFF55, "Page_Down": 0xFF56, "End": 0xFF57, "Home": 0xFF50, "Up": 0xFF52}


class Keyboard:
    def __init__(self):
        self.x11, self.test = ctypes.CDLL("libX11.so.6"), ctypes.CDLL("libXtst.so.6")
        self.x11.XOpenDisplay.restype = ctypes.c_void_p
        self.x11.XKeysymToKeycode.argtypes = [ctypes.c_void_p, ctypes.c_ulong]
        self.x11.XKeysymToKeycode.restype = ctypes.c_ubyte
        self.x11.XSync.argtypes = [ctypes.c_void_p, ctypes.c_int]
        self.test.XTestFakeKeyEvent.argtypes = [ctypes.c_void_p, ctypes.c_uint, ctypes.c_int, ctypes.c_ulong]
        self.display = self.x11.XOpenDisplay(None)
        if not self.display:
            raise SystemExit("there is no display for keys")

    def press(self, key, shift=False):
        """Presses and releases a key: a name, or a letter that needs no modifier.

        :return: the moment before.
        """
        code = self.x11.XKeysymToKeycode(self.display, NAMED.get(key) or ord(key))
        held = self.x11.XKeysymToKeycode(self.display, SHIFT)
        now = time.monotonic()
        if shift:
            self.test.XTestFakeKeyEvent(self.display, held, 1, 0)
        for is_down in (1, 0):
            self.test.XTestFakeKeyEvent(self.display, code, is_down, 0)
        if shift:
            self.test.XTestFakeKeyEvent(self.display, held, 0, 0)
        self.x11.XSync(self.display, 0)
        return now
