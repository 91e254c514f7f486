import { CausewayError } from "@causeway/foundation";
import { addFinalizer, keyOf, publishStatus, removeFinalizer, Service } from "@causeway/kubernetes";
import { isImmutable, isOutcomeUnknown, type LoadBalancer, type LoadBalancerCreate } from "@causeway/openstack";
import {
  errorKey,
  immutableKey,
  failedCreateKey,
  isOfMembers,
  uncertainKey,
  errorBackoff,
  immutableBackoff,
  failedCreateBackoff,
} from "@causeway/octavia-tree";
import type { StepContext, PerformContext } from "./step-context.ts";
import { serviceFinalizer } from "./parameters/concern.ts";
import type { Observed } from "./observed.ts";
import { wishesOf } from "./brake.ts";
import { creationTime } from "./memory/earlier-creates.ts";
import { isAnothers } from "./ownership.ts";
import { performAddress } from "./address/perform-address.ts";
import { performTree } from "./tree/perform-tree.ts";
import type { KubernetesStep, Step, TreeStep } from "./steps.ts";

/** The field manager of a Service's status. */
export const fieldManager = "causeway-cloud-controller-manager";

/** Makes one step true. */
export async function perform(
  using: PerformContext,
  step: Step,
  observed: Observed,
  signal: AbortSignal,
): Promise<void | "deferred"> {
  const context: StepContext = { using, observed, signal };
  switch (step.type) {
    case "add-finalizer":
    case "annotate":
    case "clear-status":
    case "remove-finalizer":
      return performKubernetes(step, context);
    case "create-floating-ip":
    case "attach-floating-ip":
    case "describe-floating-ip":
    case "detach-floating-ip":
    case "delete-floating-ip":
      return performAddress(step, context);
    case "of-second":
      return observed.second ? perform(using, step.step, observed.second, signal) : undefined;
    case "create-load-balancer":
      return createLoadBalancer(step.body, context);
    default:
      return changeLoadBalancer(step, context);
  }
}

async function performKubernetes(step: KubernetesStep, { using, observed, signal }: StepContext): Promise<void> {
  const { client, events } = using;
  const { service } = observed;
  switch (step.type) {
    case "add-finalizer":
      await addFinalizer(client, Service, service, { finalizer: serviceFinalizer, signal });
      return;
    case "remove-finalizer":
      events.event(service, { type: "Normal", reason: "DeletedLoadBalancer", message: "Deleted load balancer" });
      await removeFinalizer(client, Service, service, { finalizer: serviceFinalizer, signal });
      return;
    case "clear-status":
      await publishStatus(client, Service, service, { status: { loadBalancer: {} }, fieldManager, signal });
      return;
    case "annotate": {
      const body = { metadata: { annotations: step.annotations } };
      await client.patch(Service, keyOf(service), { type: "merge", body }, { signal });
      return;
    }
  }
}

/**
 * One POST for the whole tree. It is never repeated without a search for what another attempt made, and where an answer
 * was lost, not before the cloud has had time to finish: a load balancer is not listed until its POST is done.
 */
async function createLoadBalancer(
  body: LoadBalancerCreate,
  { using, observed, signal }: StepContext,
): Promise<void | "deferred"> {
  const { cloud, watch, backoffs, details } = using;
  const { loadBalancers } = cloud.loadBalancing;
  const known = (await loadBalancers.all({ name: body.name }, { signal })).find(
    (lb) => !isLeaving(lb) && !isAnothers(lb, observed.service),
  );
  try {
    const made = known ?? (await loadBalancers.create(body, { signal }));
    backoffs.reset(uncertainKey(body.name));
    backoffs.reset(failedCreateKey(body.name));
    if (!known) details.made(made);
    watch.loadBalancers.observe(made);
  } catch (error) {
    if (!isOutcomeUnknown(error)) throw error;
    return createFailed(body, error as CausewayError, { using, observed });
  }
}

/**
 * Octavia answers errors of Neutron and of its drivers with 500. One such answer may come of a moment's trouble; the
 * second is reported in Octavia's words. What the create may have left all the same is read by name before the next
 * one. Where the answer was lost, or was that of a proxy, Octavia may be at work still: the cloud has time to finish
 * before the next reconcile.
 */
function createFailed(
  body: LoadBalancerCreate,
  error: CausewayError,
  { using: { backoffs, watch }, observed }: Pick<StepContext, "using" | "observed">,
): "deferred" {
  const { name } = body;
  const wishes = wishesOf(observed.service);
  const answer = answerOf(error);
  if (!answer) {
    const members = (body.listeners ?? []).reduce((sum, l) => sum + (l.default_pool?.members?.length ?? 0), 0);
    const time = creationTime(members);
    backoffs.increase(uncertainKey(name), { base: time, cap: time });
  }
  backoffs.increase(failedCreateKey(name), failedCreateBackoff, wishes);
  watch.loadBalancers.hurry(
    Math.max(backoffs.until(failedCreateKey(name), wishes) ?? 0, backoffs.until(uncertainKey(name)) ?? 0),
  );
  if (backoffs.count(failedCreateKey(name), wishes) > 1) throw answer ?? error;
  return "deferred";
}

/**
 * Octavia's own answer with an error, which has a fault code; undefined where none came, or that of a proxy before it.
 */
function answerOf({ cause }: Error): CausewayError | undefined {
  if (!(cause instanceof CausewayError)) return undefined;
  return cause.details["serviceType"] === "Client" || cause.details["serviceType"] === "Server" ? cause : undefined;
}

function isLeaving(lb: LoadBalancer): boolean {
  return lb.provisioning_status === "PENDING_DELETE" || lb.provisioning_status === "DELETED";
}

/** A load balancer that something else is changing just now is waited for: that is no error. */
async function changeLoadBalancer(step: TreeStep, context: StepContext): Promise<void | "deferred"> {
  const { using, observed } = context;
  const adopted = observed.adoption ? [observed.adoption.lb] : [];
  const all = [...adopted, ...observed.loadBalancers, ...observed.retiring];
  const lb = all.find((l) => step.type !== "delete-load-balancer" || l.id === step.id);
  if (!lb) return;
  try {
    await (step.type === "delete-load-balancer" ? deleteLoadBalancer(step, context) : performTree(step, context));
    using.backoffs.reset(immutableKey(lb.id));
  } catch (error) {
    const expected = observed.held.expectedActive !== undefined;
    if (expected) using.freshness.notYetActive(lb);
    // It was not ACTIVE as early as expected: a list shows when it is.
    if (expected && isImmutable(error)) return "deferred";
    // Whatever was wrong, what is cached may be the reason: the next read is a fresh one.
    using.freshness.touch(lb, "tree");
    if (!isImmutable(error)) throw error;
    using.backoffs.increase(immutableKey(lb.id), immutableBackoff);
    return "deferred";
  }
  if (step.type === "delete-load-balancer") {
    const now = using.watch.loadBalancers.get(lb.id);
    if (now) using.watch.loadBalancers.observe({ ...now, provisioning_status: "PENDING_DELETE" });
  } else using.freshness.touch(lb, isOfMembers(step) ? "members" : "tree");
  if (isOfMembers(step) && step.more) using.freshness.expectMore(lb);
}

async function deleteLoadBalancer(
  step: Extract<Step, { type: "delete-load-balancer" }>,
  { using, observed, signal }: StepContext,
): Promise<void> {
  using.events.event(observed.service, step.event);
  await using.cloud.loadBalancing.deleteLoadBalancer(step.id, { cascade: step.cascade, signal });
  if (step.broken) using.backoffs.increase(errorKey(observed.lbName), errorBackoff);
}
