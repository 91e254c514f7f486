/** Nodes, computes and servers that tests of maintenance plan with. */
import { plan } from "../maintenance/plan.ts";
import type { ComputeNode, ComputeService, HostedServer, Observed } from "../maintenance/model.ts";

/** A node that serves. */
export const node = (name: string, more: Partial<ComputeNode> = {}): ComputeNode => ({
  name,
  cordoned: false,
  ready: true,
  lostAt: undefined,
  fenced: false,
  ...more,
});
/** The compute of a host, which serves. */
export const service = (host: string, more: Partial<ComputeService> = {}): ComputeService => ({
  id: `s-${host}`,
  host,
  zone: "az1",
  isUp: true,
  isEnabled: true,
  reason: "",
  isForcedDown: false,
  ...more,
});
/** What a compute has that the operator disabled. */
export const ours = { isEnabled: false, reason: "causeway: node a is cordoned" };
/** A server that runs on node "a". */
export const server = (id: string, more: Partial<HostedServer> = {}): HostedServer => ({
  id,
  name: id,
  host: "a",
  status: "ACTIVE",
  task: "",
  ...more,
});

/** When `planOf` plans. */
export const NOW = 1_000_000;

/** The plan where every node has its guard and is held. */
export function planOf(
  nodes: readonly ComputeNode[],
  services: readonly ComputeService[],
  servers: readonly HostedServer[],
  more: Partial<Observed> = {},
) {
  const all = new Set(nodes.map(({ name }) => name));
  const limits = { nodes: 1, moves: 2, flap: 300_000 };
  const observed = {
    nodes,
    controls: [],
    quorums: [],
    nova: { services, servers, agents: [] },
    published: [],
    strays: [],
    removed: new Set<string>(),
    orphans: [],
    guards: all,
    held: all,
    attempts: new Map(),
    limits,
    ...more,
  };
  const { steps, status, events = [], wait } = plan(observed, NOW);
  const states = status.maintenance ?? [];
  return {
    steps: steps.map(({ type, name }) => `${type} ${name}`),
    phases: states.map(({ phase }) => phase),
    events,
    full: { steps, status, states, until: wait?.until },
  };
}
