import { describe, expect, test } from "vitest";
import type { HostedControlPlane } from "@causeway/api";
import type { NodeClock } from "../runtime.ts";
import { clockConditions, clockEvents } from "./clock-condition.ts";

type Clocks = readonly NodeClock[] | undefined;

const empty = {} as HostedControlPlane;
/** The object as it was published after these findings, one after the other. */
const after = (...all: Clocks[]): HostedControlPlane =>
  all.reduce<HostedControlPlane>(
    (object, clocks) => ({ status: { conditions: clockConditions(object, clocks) } }) as unknown as HostedControlPlane,
    empty,
  );
const off: Clocks = [
  { node: "one", minutes: 5 },
  { node: "two", minutes: -7 },
];

describe("the condition about clocks of nodes", () => {
  test.for<[string, HostedControlPlane, Clocks, string | undefined, number]>([
    ["is not there while clocks are right", empty, [], undefined, 0],
    ["is not there while nothing is known", empty, undefined, undefined, 0],
    ["is False when one is wrong, with an event", empty, off, "False", 1],
    ["remains without another event", after(off), off, "False", 0],
    ["remains after a start, before anything is known", after(off), undefined, "False", 0],
    ["is True when they were corrected", after(off), [], "True", 0],
    ["is False again, with another event", after(off, []), off, "False", 1],
  ])("%s", ([, object, clocks, status, events]) => {
    expect(clockConditions(object, clocks)[0]?.status).toBe(status);
    expect(clockEvents(object, clocks)).toHaveLength(events);
  });

  test("names nodes, differences and who must act, and counts more than five", () => {
    const message = (clocks: Clocks): string | undefined => clockConditions(empty, clocks)[0]?.message;
    expect(message(off)).toBe(
      "the clock of node one of the service cluster is 5 min ahead; the clock of node two of the service cluster is 7 min behind: certificates and tokens can be refused there; the operator must correct it (NODE_CLOCK_OFF)",
    );
    const many = Array.from({ length: 8 }, (_, index) => ({ node: `n${index}`, minutes: 2 }));
    expect(message(many)).toContain("; and 3 more: ");
  });
});
