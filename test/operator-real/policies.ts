/** Enforces the deployment's NetworkPolicies on the rig's machines, and reports what was refused. */
import { execFileSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { permits, rulesetOf, TABLE, type Policy, type PolicyPod } from "./policy-rules.ts";
import type { Rig } from "./rig.ts";

const EVERY = 2_000;

interface Listed {
  readonly items: readonly ({ readonly kind: string } & Policy & FoundPod)[];
}
interface FoundPod {
  readonly metadata: { readonly name: string; readonly labels?: Record<string, string> };
  readonly spec: { readonly hostNetwork?: boolean };
  readonly status?: { readonly podIP?: string; readonly phase?: string };
}

export interface Enforcement {
  /** "FROM to TO:PORT" of all that was refused, although it is allowed now, and of all that is not. */
  refused(): { readonly early: string[]; readonly undeclared: string[] };
  stop(): Promise<void>;
}

/** Starts at once: a pod is isolated as soon as its address is known. */
export function enforcePolicies(rig: Rig): Enforcement {
  const over = new AbortController();
  const known = new Map<string, PolicyPod>();
  let policies: Policy[] = [];
  let applied = "";
  const inside = (machine: Rig["machines"][number], args: readonly string[], input = "") =>
    execFileSync("ip", ["netns", "exec", machine.place.namespace, "nft", ...args], { input, encoding: "utf8" });
  const check = () => {
    const { items } = rig.get<Listed>("networkpolicies,pods");
    policies = items.filter(({ kind }) => kind === "NetworkPolicy");
    const pods = items.flatMap(({ kind, metadata, spec, status }): PolicyPod[] => {
      const ip = status?.podIP;
      const isThere = kind === "Pod" && spec.hostNetwork !== true && ip !== undefined;
      const isOver = status?.phase === "Succeeded" || status?.phase === "Failed";
      return isThere && !isOver ? [{ name: metadata.name, ip, labels: metadata.labels ?? {} }] : [];
    });
    for (const pod of pods) known.set(pod.ip, pod);
    const ruleset = rulesetOf(policies, pods);
    if (ruleset === applied) return;
    for (const machine of rig.machines) inside(machine, ["-f", "-"], ruleset);
    applied = ruleset;
  };
  check();
  const running = (async () => {
    while (!over.signal.aborted) {
      await sleep(EVERY, undefined, { signal: over.signal }).catch(() => {});
      if (!over.signal.aborted) check();
    }
  })();
  // A failure is thrown by `stop`, and not before.
  running.catch(() => {});
  return {
    refused() {
      const found = rig.machines.flatMap((machine) =>
        elementsOf(inside(machine, ["-j", "list", "set", "inet", TABLE, "refused"])),
      );
      const said = { early: new Set<string>(), undeclared: new Set<string>() };
      for (const [from, to, port] of found) {
        const [source, target] = [known.get(from), known.get(to)];
        const name = (pod: PolicyPod | undefined, ip: string) => pod?.labels["openstack.causeway.dev/component"] ?? ip;
        const isAllowed = source && target && permits(policies, source, target, port);
        said[isAllowed ? "early" : "undeclared"].add(`${name(source, from)} to ${name(target, to)}:${port}`);
      }
      return { early: [...said.early].toSorted(), undeclared: [...said.undeclared].toSorted() };
    },
    async stop() {
      over.abort();
      await running;
    },
  };
}

type Element = readonly [from: string, to: string, port: number];

function elementsOf(text: string): Element[] {
  const { nftables } = JSON.parse(text) as { nftables: { set?: { elem?: unknown[] } }[] };
  const elements = nftables.flatMap(({ set }) => set?.elem ?? []) as (
    | { concat: Element }
    | { elem: { val: { concat: Element } } }
  )[];
  return elements.map((each) => ("concat" in each ? each.concat : each.elem.val.concat));
}
