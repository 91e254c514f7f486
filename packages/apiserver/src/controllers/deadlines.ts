import type { Clock } from "@causeway/foundation";

/** Keys that are due at an instant; one timer however many there are, none when there are none. */
export interface Deadlines {
  /** Milliseconds since the epoch; undefined forgets the key. */
  set(key: string, at: number | undefined): void;
  stop(): void;
}

/** Instants this close together are handled at once. */
const GRAIN = 1000;

/** Calls `due` once for each key, at its instant or up to a second later. */
export function deadlines(clock: Clock, due: (key: string) => void): Deadlines {
  const times = new Map<string, number>();
  let waking: { at: number; cancel: AbortController } | undefined;

  const fire = (): void => {
    waking = undefined;
    const now = clock.now();
    for (const [key, at] of times) {
      if (at > now) continue;
      times.delete(key);
      due(key);
    }
    arm();
  };

  const arm = (): void => {
    let next = Infinity;
    for (const at of times.values()) next = Math.min(next, at);
    if (next === Infinity || (waking && waking.at <= next)) return;
    waking?.cancel.abort();
    const cancel = new AbortController();
    waking = { at: next, cancel };
    clock.sleep(Math.max(next - clock.now(), 0) + GRAIN, cancel.signal).then(fire, () => {});
  };

  return {
    set(key, at) {
      if (at === undefined) times.delete(key);
      else times.set(key, at);
      if (at !== undefined && (!waking || at < waking.at)) arm();
    },
    stop() {
      times.clear();
      waking?.cancel.abort();
      waking = undefined;
    },
  };
}
