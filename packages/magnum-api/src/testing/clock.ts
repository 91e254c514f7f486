import { systemClock, type Clock } from "@causeway/foundation";

/** The wall clock, but for sleeps of one length: what `instead` returns ends them. */
export function clockWith(length: number, instead: () => Promise<void>): Clock {
  return {
    now: () => systemClock.now(),
    sleep: (milliseconds, signal) => (milliseconds === length ? instead() : systemClock.sleep(milliseconds, signal)),
  };
}
