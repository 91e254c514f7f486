import { CausewayError, InputError, shortList, systemClock } from "@causeway/foundation";
import {
  findSharedEtcds,
  readSharedRotation,
  requestSharedRotation,
  type SharedEtcd,
  type SharedEtcdRotation,
} from "@causeway/hosted-control-plane";
import { isUnreachable, timestamp, type KubernetesClient } from "@causeway/kubernetes";
import { withManagement } from "../../clusters/place.ts";
import type { RotateEtcdOptions } from "./command.ts";

const PAUSE = 1_000;

/**
 * Requests a rotation of the authority of the etcd that control planes share, or follows the one that is running.
 * @throws SHARED_ETCD_NOT_FOUND, ROTATION_TIMEOUT
 */
export async function rotateEtcdAuthority(options: RotateEtcdOptions, signal: AbortSignal): Promise<void> {
  await withManagement(options, async ({ client }) => rotate(client, options, signal));
}

async function rotate(client: KubernetesClient, options: RotateEtcdOptions, signal: AbortSignal): Promise<void> {
  const etcd = await chosen(client, options.owner, signal);
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  const before = await readSharedRotation(client, etcd, signal);
  const running = runningIn(before);
  const rotation = running ?? timestamp(systemClock.now());
  const without = options.without ?? [];
  // An earlier choice holds for a rotation that is running, unless it is given again.
  if (running === undefined || without.length > 0) {
    const after = running === undefined ? rotation : undefined;
    await requestSharedRotation(client, etcd, { after, without }, signal);
  }
  say(`shared etcd ${etcd.namespace}: rotation ${rotation} ${running === undefined ? "requested" : "is under way"}`);
  if (!options.wait) return;
  await follow(client, { etcd, rotation, timeout: options.timeout, say }, signal);
  say(`shared etcd ${etcd.namespace}: its members trust the new authority alone`);
}

interface Followed {
  readonly etcd: SharedEtcd;
  readonly rotation: string;
  readonly timeout: number;
  readonly say: (line: string) => void;
}

async function follow(
  client: KubernetesClient,
  { etcd, rotation, timeout, say }: Followed,
  signal: AbortSignal,
): Promise<void> {
  const end = systemClock.now() + timeout * 1000;
  for (let last = ""; ;) {
    const found = await readSharedRotation(client, etcd, signal).catch((error: unknown) => {
      // An API server that restarts does not end half an hour of following.
      if (isUnreachable(error)) return undefined;
      throw error;
    });
    if (found && isOver(found, rotation)) return;
    const progress = found ? progressOf(found, rotation) : "the service cluster does not respond";
    if (progress !== last) say((last = progress));
    if (systemClock.now() > end)
      throw new CausewayError(
        "ROTATION_TIMEOUT",
        `the rotation of shared etcd ${etcd.namespace} is not done after ${timeout} s: ${progress}`,
        { hint: "It continues; run the command again to follow it. --without NAMESPACE skips a control plane." },
      );
    await systemClock.sleep(PAUSE, signal);
  }
}

/** The rotation that has begun, or was requested and has not begun. */
export function runningIn({ requested, rotation, stage }: SharedEtcdRotation): string | undefined {
  if (stage !== "single") return rotation;
  return requested !== rotation ? requested : undefined;
}

/** Has this rotation ended? One that was already running when it was requested comes first. */
export function isOver({ rotation, stage, isRolledOut }: SharedEtcdRotation, wanted: string): boolean {
  return stage === "single" && rotation === wanted && isRolledOut;
}

const stages = {
  trust: "members and control planes get both authorities",
  sign: "members and control planes get certificates of the new authority",
} as const;

/** One line: what is under way, and whom it waits for. */
export function progressOf({ rotation, stage, waiting }: SharedEtcdRotation, wanted: string): string {
  if (stage === "single" && rotation === wanted) return "members remove the old authority";
  const what = stage === "single" ? `waiting for rotation ${wanted} to begin` : stages[stage];
  const earlier = stage !== "single" && rotation !== wanted ? ` (of rotation ${rotation ?? "unknown"})` : "";
  if (waiting.count === 0) return `${what}${earlier}`;
  const { names, count: total } = waiting;
  return `${what}${earlier}; waits for ${shortList(names, names.length, { total })}`;
}

async function chosen(client: KubernetesClient, owner: string | undefined, signal: AbortSignal): Promise<SharedEtcd> {
  const all = await findSharedEtcds(client, signal);
  const found = owner === undefined ? all : all.filter((each) => each.owner === owner);
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  const owners = all.map((each) => each.owner).join(", ");
  throw new InputError(
    "SHARED_ETCD_NOT_FOUND",
    found.length === 0
      ? "no etcd that control planes share is in this cluster"
      : `${found.length} management clusters have an etcd in this cluster`,
    {
      hint:
        found.length === 0
          ? `Specify the service cluster with --kubeconfig and --context.${all.length > 0 ? ` Owners there: ${owners}.` : ""}`
          : `Choose one with --owner: ${owners}.`,
    },
  );
}
