import type { OpenStackServer, OpenStackServerStatus } from "@causeway/api";
import { isDeleting, type Plan } from "@causeway/kubernetes";
import type { Hold, IdentityState } from "../identity/state.ts";
import { planMachineDeletion } from "../openstackmachine/deletion.ts";
import type { AddressClaim, ImageReference, MachineCloud, MachineContext } from "../openstackmachine/model.ts";
import { waiting, type Outcome } from "../openstackmachine/outcome.ts";
import { finish, heldBack, isHeld, planPresent, unopened } from "../openstackmachine/plan.ts";
import { clusterResourceName, serverFinalizer, serverOwner } from "../resources/naming.ts";
import { isServerStep, type ServerStep } from "./steps.ts";
import { asMachine, isOfMachine } from "./view.ts";

/** Everything that the planner reads. */
export interface Observed {
  readonly object: OpenStackServer;
  readonly clusterName: string | undefined;
  readonly paused: boolean;
  readonly identity: IdentityState<MachineCloud>;
  readonly hold?: Hold | undefined;
  readonly image?: ImageReference | undefined;
  readonly claim?: AddressClaim | undefined;
  /** Name of the Secret with the user data, once it exists and holds data. */
  readonly userData?: string;
}

/** The steps, status and events of an OpenStackServer. */
export type ServerPlan = Plan<ServerStep, OpenStackServerStatus>;

/** What an OpenStackServer needs next. Pure, like planMachine. */
export function plan(observed: Observed, now: number): ServerPlan {
  const { object, identity, hold } = observed;
  const status = object.status ?? {};
  const deleting = isDeleting(object);
  if (observed.paused) return { steps: [], status };
  if (deleting ? !object.metadata.finalizers?.includes(serverFinalizer) : isOfMachine(object))
    return { steps: [], status };
  if (!identity.ok) return finished(observed, unopened(observed, identity, now), now);
  if (isHeld(hold, { deleting, now })) return finished(observed, heldBack(hold), now);
  const context = contextOf(observed, identity.cloud);
  if (deleting) return finished(observed, planMachineDeletion(context, now), now);
  const secret = object.spec.userDataRef?.name;
  if (secret && observed.userData === undefined && status.instanceID === undefined)
    return finished(observed, waiting("WaitingForBootstrapData", `Secret ${secret} with the user data`), now);
  return finished(observed, planPresent(context, now), now);
}

function contextOf(
  { object, clusterName, image, claim, hold, userData }: Observed,
  cloud: MachineCloud,
): MachineContext {
  const { name, namespace = "" } = object.metadata;
  const zone = object.spec.availabilityZone;
  return {
    object: asMachine(object),
    name,
    crn: clusterResourceName(namespace, clusterName ?? name),
    ownerMark: serverOwner(namespace, clusterName ?? name),
    cloud,
    infrastructure: undefined,
    owner: { name, ...(zone ? { zone } : {}), ...(userData === undefined ? {} : { bootstrapSecret: userData }) },
    image,
    claim,
    hold,
    finalizer: serverFinalizer,
    recordsProviderId: false,
  };
}

function finished({ object }: Observed, outcome: Outcome, now: number): ServerPlan {
  const plan = finish({ object: asMachine(object) }, outcome, now);
  const { initialization: _once, ...status } = plan.status;
  return {
    ...plan,
    steps: plan.steps.filter(isServerStep),
    status: { ...status, ready: outcome.finding.status === "True" },
  };
}
