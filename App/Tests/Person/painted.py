"""What is painted when, read from the display's memory: nothing slows down the app meanwhile."""
import os
import time

import person
import targets

#: After this long without a change the picture is final.
STILL = 0.6
LONGEST = 20.0
SCROLL_BAR = 40


class Middle:
    """The middle third of the messages."""

    def __init__(self, me):
        self.process = me.program.pid
        self.screen = targets.Screen(os.environ["SCREEN_FOLDER"])
        box = me.see("list", "Messages").get_component_iface().get_extents(person.Atspi.CoordType.WINDOW)
        # The window covers the display; the scroll bar beside fades.
        self.lines = range(box.y + box.height // 3, box.y + 2 * box.height // 3)
        self.left, self.right = 4 * box.x, 4 * (box.x + box.width - SCROLL_BAR)

    def now(self):
        at, line, memory = self.screen.begin, self.screen.line, self.screen.memory
        return [hash(memory[at + y * line + self.left:at + y * line + self.right]) for y in self.lines]

    def work(self):
        """The milliseconds of CPU of the main thread so far."""
        with open(f"/proc/{self.process}/task/{self.process}/schedstat") as file:
            return int(file.read().split()[0]) / 1e6

    def painted(self, press):
        """Waits until the picture is final.

        :param press: what begins, and returns when it has begun.
        :return: the milliseconds from then until it was painted, and those of the main thread's CPU.
        """
        picture, last = self.now(), None
        before = done = self.work()
        begun = press()
        while last is None or time.monotonic() - last < STILL:
            now, moment = self.now(), time.monotonic()
            if now != picture:
                picture, last, done = now, moment, self.work()
            if moment - begun > LONGEST:
                raise person.Lost("the picture is never final" if last else "nothing is painted")
            time.sleep(0.002)
        return 1000 * (last - begun), done - before
