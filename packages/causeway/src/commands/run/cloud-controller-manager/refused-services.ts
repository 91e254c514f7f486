import { messageOf } from "@causeway/foundation";
import {
  createEventRecorder,
  Lease,
  Service,
  type EventRecorder,
  type KubernetesClient,
  type PlannedEvent,
} from "@causeway/kubernetes";
import type { Run } from "./manager.ts";

/** Services that get an event; of more, the first by namespace and name. */
const MOST = 20;
/** Milliseconds by which the clock of another host may differ, on top of a Lease's own duration. */
const SLACK = 60_000;

/** What reports a refusal. */
export type RefusalContext = Pick<Run, "client" | "clock" | "log"> & { readonly flags: Pick<Run["flags"], "election"> };

/**
 * Reports on the Services that wait for a load balancer why none comes, for people who cannot read the log. Not where
 * another instance leads: its credentials may work. One recorder for all reports merges those that are equal.
 */
export function refusalReporter(run: RefusalContext): (refusal: string, signal: AbortSignal) => Promise<void> {
  const { client, clock, log } = run;
  let events: EventRecorder | undefined;
  return (refusal, signal) => {
    // Every report has the signal of the process: what is sent when that ends is not waited for.
    events ??= createEventRecorder(client, { component: "cloud-controller-manager", clock, log, signal });
    return report({ run, events, refusal }, signal);
  };
}

interface Report {
  readonly run: RefusalContext;
  readonly events: EventRecorder;
  readonly refusal: string;
}

async function report({ run, events, refusal }: Report, signal: AbortSignal): Promise<void> {
  const { client, log } = run;
  try {
    if (await otherLeads(run, signal)) return;
    const { items } = await client.list(Service, { fieldSelector: "spec.type=LoadBalancer", signal });
    const event: PlannedEvent = {
      type: "Warning",
      reason: "CloudCredentialsRefused",
      message: `The cloud refuses the credentials of the cloud controller manager: ${refusal} Correct its cloud.conf.`,
    };
    for (const service of items.filter(isWaiting).toSorted(byName).slice(0, MOST)) events.event(service, event);
    await events.flush();
  } catch (error) {
    if (!signal.aborted) log.debug("could not emit event CloudCredentialsRefused", { reason: messageOf(error) });
  }
}

async function otherLeads(
  { client, clock, flags: { election } }: RefusalContext,
  signal: AbortSignal,
): Promise<boolean> {
  if (election === undefined) return false;
  const { namespace, name } = election;
  const {
    holderIdentity,
    renewTime,
    leaseDurationSeconds = 0,
  } = (await leaseOf(client, { namespace, name }, signal)) ?? {};
  if (!holderIdentity || renewTime === undefined) return false;
  return Date.parse(renewTime) + leaseDurationSeconds * 1_000 + SLACK > clock.now();
}

async function leaseOf(client: KubernetesClient, key: { namespace: string; name: string }, signal: AbortSignal) {
  return (await client.find(Lease, key, { signal }))?.spec;
}

/** One that has an address works as it is; one of another class is another controller's. */
function isWaiting({ spec, status, metadata }: Service): boolean {
  const hasAddress = (status?.loadBalancer?.ingress ?? []).length > 0;
  return spec.loadBalancerClass === undefined && !hasAddress && metadata.deletionTimestamp === undefined;
}

function byName(a: Service, b: Service): number {
  const name = ({ metadata }: Service) => `${metadata.namespace}/${metadata.name}`;
  return name(a) < name(b) ? -1 : 1;
}
