import { describe, expect, it } from "vitest";
import { ListRequests, type Listed } from "./list-requests.ts";

function counted(): Listed & { readonly at: number[]; now: number } {
  const list = {
    at: [] as number[],
    now: 0,
    refresh(): Promise<void> {
      list.at.push(list.now);
      return Promise.resolve();
    },
  };
  return list;
}

/** Reconciles each key whenever it is due, until `end`. */
function play(
  requests: ListRequests,
  list: ReturnType<typeof counted>,
  { keys, end }: { keys: readonly string[]; end: number },
) {
  const due = new Map(keys.map((key) => [key, 0]));
  for (;;) {
    const next = [...due].toSorted((a, b) => a[1] - b[1])[0];
    if (!next || next[1] > end) return;
    const [key, now] = next;
    list.now = now;
    due.set(key, requests.await({ key, what: "a port to go", lists: [list] }, now));
  }
}

describe("ListRequests", () => {
  it("lists at once, each half second first, then ever less often", () => {
    const [requests, list] = [new ListRequests(), counted()];
    play(requests, list, { keys: ["a"], end: 20_000 });
    expect(list.at).toEqual([0, 500, 1000, 1500, 2250, 3375, 5062.5, 7593.75, 11_390.625, 17_085.9375]);
  });

  it("lists fewer than 135 times in an hour of waiting in vain", () => {
    const [requests, list] = [new ListRequests(), counted()];
    play(requests, list, { keys: ["a"], end: 3_600_000 });
    expect(list.at.length).toBeLessThan(135);
  });

  it("lists as often for 100 objects that wait as for one", () => {
    const [requests, list] = [new ListRequests(), counted()];
    play(requests, list, { keys: Array.from({ length: 100 }, (_, i) => `${i}`), end: 20_000 });
    expect(list.at.length).toBe(10);
  });

  it("does not list for an object that found what it waited for", () => {
    const [requests, list] = [new ListRequests(), counted()];
    requests.await({ key: "a", what: "a port to go", lists: [list] }, 0);
    requests.forget("a");
    expect(list.at).toEqual([0]);
  });

  it("begins again for another wait of the same object", () => {
    const [requests, list] = [new ListRequests(), counted()];
    play(requests, list, { keys: ["a"], end: 60_000 });
    const before = list.at.length;
    expect(requests.await({ key: "a", what: "a pool", lists: [list] }, 80_000)).toBe(80_500);
    expect(list.at).toHaveLength(before + 1);
  });
});
