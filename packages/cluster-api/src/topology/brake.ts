import type { Cluster } from "@causeway/api";
import { fingerprint } from "../objects/names.ts";
import type { Desired } from "./desired.ts";
import type { Blueprint } from "./model.ts";

/** Names that the templates of a topology may get in turn while no user changes anything. */
const most = 5;
const mostKept = 10_000;

/**
 * Notices a patch whose result depends on the name of its own template: each rotation gives the template another name,
 * and so another content, without end. Nothing but a change by a user lifts it.
 */
export class RotationBrake {
  readonly #seen = new Map<string, { readonly inputs: string; readonly names: Set<string> }>();

  /** `before` and `after` the rotations of this turn. @returns why no more is rotated */
  check(
    cluster: Cluster,
    blueprint: Blueprint,
    { before, after }: { readonly before: Desired; readonly after: Desired },
  ): string | undefined {
    const uid = cluster.metadata.uid ?? `${cluster.metadata.namespace ?? ""}/${cluster.metadata.name}`;
    const inputs = inputsOf(cluster, blueprint, after);
    const known = this.#seen.get(uid);
    const entry = known?.inputs === inputs ? known : { inputs, names: new Set<string>() };
    const old = new Set(templateNames(before));
    for (const name of templateNames(after)) if (!old.has(name)) entry.names.add(name);
    this.#seen.delete(uid);
    if (entry.names.size === 0) return undefined;
    this.#seen.set(uid, entry);
    const [oldest] = this.#seen.keys();
    if (this.#seen.size > mostKept && oldest !== undefined) this.#seen.delete(oldest);
    if (entry.names.size <= most) return undefined;
    return `Templates were replaced ${most} times although nothing was changed: a patch of the ClusterClass depends on the name of the template that it changes. Correct the patch`;
  }
}

/** All that a user can change of what the objects are made from. */
function inputsOf(cluster: Cluster, { class: clusterClass, ...templates }: Blueprint, { upgrades }: Desired): string {
  const { infrastructure, controlPlane, controlPlaneMachine, deployments, pools } = templates;
  const used = [
    infrastructure,
    controlPlane,
    ...(controlPlaneMachine ? [controlPlaneMachine] : []),
    ...[...deployments.values(), ...pools.values()].flatMap((one) => [one.bootstrap, one.infrastructure]),
  ];
  return fingerprint({
    topology: cluster.spec.topology,
    class: [clusterClass.metadata.uid, clusterClass.metadata.generation],
    templates: used.map(({ object: { metadata } }) => [metadata.uid, metadata.generation]),
    controlPlane: upgrades.controlPlane,
    workers: [...upgrades.workers].map(([name, { version }]) => [name, version]),
  });
}

function templateNames({ controlPlane, workers }: Desired): string[] {
  const made = [
    controlPlane.machineTemplate,
    ...workers.flatMap(({ bootstrap, infrastructure }) => [bootstrap, infrastructure]),
  ];
  return made.flatMap((one) => (one ? [`${one.kind.kind}/${one.object.metadata.name}`] : []));
}
