import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { HostedControlPlane } from "@causeway/api";
import { getCondition, setConditions, type Condition } from "@causeway/kubernetes";
import { planTunnel } from "./condition.ts";
import type { TunnelFacts } from "./facts.ts";

const start = Date.UTC(2026, 0, 1);
const second = 1_000;
const connected: TunnelFacts = { type: "connected" };
const absent = (since = start): TunnelFacts => ({ type: "absent", since, seenSince: since, hadAgents: false });
const lost = (since = start): TunnelFacts => ({ type: "absent", since, seenSince: since, hadAgents: true });
const unreachable: TunnelFacts = {
  type: "unreachable",
  code: "ECONNREFUSED",
  reached: true,
  seenSince: start,
  hadAgents: false,
};
const neverReached: TunnelFacts = { ...unreachable, reached: false };

/** The object with the condition as it was published, and what is planned for it. */
function objectWith(status?: "True" | "False" | "Unknown", reason = "NoAgent", at = start - 3_600_000) {
  const lastTransitionTime = new Date(at).toISOString();
  const condition = { type: "TunnelConnected", status, reason, message: "as it was", lastTransitionTime };
  return { status: { conditions: status === undefined ? [] : [condition] } } as unknown as HostedControlPlane;
}
const plan = (object: HostedControlPlane, facts: TunnelFacts | undefined, after: number) => {
  const { conditions, events, until } = planTunnel(object, facts, start + after);
  return [conditions[0]?.reason, events.map(({ reason }) => reason).join(), until === undefined ? 0 : until - start];
};

describe("the condition for an agent of the tunnel", () => {
  test.for<[title: string, HostedControlPlane, TunnelFacts | undefined, after: number, reason: string, event: string]>([
    ["is not set before a check", objectWith(), undefined, 0, "", ""],
    ["is true at once with an agent", objectWith(), connected, 0, "AgentConnected", ""],
    ["waits for the first agent without an event", objectWith(), absent(), 61 * second, "WaitingForAgent", ""],
    ["names a lost agent", objectWith("True"), absent(), 61 * second, "NoAgent", "TunnelAgentMissing"],
    [
      "names a lost agent where no condition is left",
      objectWith(),
      lost(),
      61 * second,
      "NoAgent",
      "TunnelAgentMissing",
    ],
    [
      "names a lost agent that was connected for less than a minute",
      objectWith("False", "WaitingForAgent"),
      lost(),
      61 * second,
      "NoAgent",
      "TunnelAgentMissing",
    ],
    [
      "waits for the first agent after the server did not respond",
      objectWith("Unknown", "WaitingForServer"),
      absent(),
      61 * second,
      "WaitingForAgent",
      "",
    ],
    [
      "names an agent that was lost while the server did not respond",
      objectWith("Unknown", "ServerUnreachable"),
      absent(),
      61 * second,
      "NoAgent",
      "TunnelAgentMissing",
    ],
    [
      "names a dead server before the first agent",
      objectWith("False", "WaitingForAgent"),
      unreachable,
      61 * second,
      "WaitingForServer",
      "TunnelServerUnreachable",
    ],
    ["is silent while an agent restarts", objectWith("True"), absent(), 59 * second, "", ""],
    ["is not said twice", objectWith("False"), absent(), 999 * second, "", ""],
    ["is cleared by an agent", objectWith("False"), connected, 0, "AgentConnected", "TunnelConnected"],
    ["is cleared in silence by the first", objectWith("False", "WaitingForAgent"), connected, 0, "AgentConnected", ""],
    [
      "names a dead server",
      objectWith("True"),
      unreachable,
      61 * second,
      "ServerUnreachable",
      "TunnelServerUnreachable",
    ],
    ["says nothing of a server that was never reached from here", objectWith(), neverReached, 999 * second, "", ""],
    [
      "names a dead server that an earlier process reached",
      objectWith("True"),
      neverReached,
      61 * second,
      "ServerUnreachable",
      "TunnelServerUnreachable",
    ],
  ])("%s", ([, object, facts, after, reason, event]) => {
    expect(plan(object, facts, after).slice(0, 2)).toEqual([reason === "" ? undefined : reason, event]);
  });

  test("says since when, what does not work, who must act, and the code", () => {
    const [lost] = planTunnel(objectWith("True"), absent(), start + 61 * second).conditions;
    expect(lost).toMatchObject({ status: "False" });
    expect(lost?.message).toContain("no agent of the tunnel is connected since 2026-01-01T00:00:00Z: logs, exec");
    expect(lost?.message).toMatch(/the cluster's owner must .*the operator must act if .*\(TUNNEL_NO_AGENT\)$/);
    const [dead] = planTunnel(objectWith("True"), unreachable, start + 61 * second).conditions;
    expect(dead?.message).toMatch(/since 2026-01-01T00:00:00Z \(ECONNREFUSED\); .*\(TUNNEL_SERVER_UNREACHABLE\)$/);
  });

  test("is planned again when the absence has lasted long enough, and when the last change is old enough", () => {
    expect(plan(objectWith("True"), absent(), 0)).toEqual([undefined, "", 60 * second]);
    expect(plan(objectWith("False", "NoAgent", start), connected, second)).toEqual([undefined, "", 60 * second]);
  });

  test("is removed where no tunnel is used any more, and others remain", () => {
    const conditions = [...(objectWith("False").status?.conditions ?? []), { type: "Available" }] as Condition[];
    const object = { status: { conditions } } as unknown as HostedControlPlane;
    expect(planTunnel(object, { type: "none" }, start).before).toEqual([{ type: "Available" }]);
  });

  test("changes at most once a minute, however agents come and go", () => {
    const steps = fc.array(fc.record({ isConnected: fc.boolean(), seconds: fc.integer({ min: 1, max: 90 }) }), {
      minLength: 1,
      maxLength: 60,
    });
    fc.assert(
      fc.property(steps, (changes) => {
        let [now, conditions] = [start, [] as Condition[]];
        const changed: number[] = [];
        for (const { isConnected, seconds } of changes) {
          const facts = isConnected ? connected : absent(now);
          for (let i = 0; i < seconds; i++, now += second) {
            const before = getCondition(conditions, "TunnelConnected")?.status;
            const object = { status: { conditions } } as unknown as HostedControlPlane;
            conditions = setConditions(conditions, planTunnel(object, facts, now).conditions, { now, generation: 1 });
            const after = getCondition(conditions, "TunnelConnected")?.status;
            if (before !== after) changed.push(now);
            // One that is connected for a minute is always seen, and so is an absence of two minutes.
            if (isConnected && i >= 60) expect(after).toBe("True");
          }
        }
        for (const [i, at] of changed.slice(1).entries())
          expect(at - (changed[i] ?? 0)).toBeGreaterThanOrEqual(60 * second);
      }),
    );
  });
});
