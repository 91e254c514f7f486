import { CausewayError } from "@causeway/foundation";
import type { SharedFileSystem } from "@causeway/openstack";
import { SHARE_DESCRIPTION } from "../names.ts";
import { failed, lastFailure } from "../shares/failure.ts";
import { LONGEST_CALL, type ShareCall } from "./call.ts";
import { isPending, planCreate, type CreateStep } from "./plan-create.ts";
import type { ShareSpec } from "./share-spec.ts";

type Share = SharedFileSystem.Share;

/** Where the claim's annotations place the share. */
export interface Placement {
  /** IDs of shares, separated by commas. */
  readonly sameHost: string;
  readonly differentHost: string;
  readonly groupId: string | undefined;
}

/** A call that creates one share. */
export interface CreateCall extends ShareCall {
  readonly spec: ShareSpec;
  readonly placement: Placement;
}

/** Steps of one call: create, wait, read again, discard. */
const MOST_STEPS = 12;

/** The share of the requested name, after Manila has finished it. */
export async function createShare(call: CreateCall): Promise<Share> {
  const { spec } = call;
  let own: string | undefined;
  let existing: readonly Share[] = await named(call);
  for (let count = 0; count < MOST_STEPS; count += 1) {
    const step = planCreate({ spec, existing, now: call.clock.now(), ...(own !== undefined && { own }) });
    switch (step.type) {
      case "done":
        return step.share;
      case "create": {
        const made = await create(call);
        own = made.isOwn ? made.share.id : undefined;
        // After a lost answer there may be several; one that was created is not returned before all are known.
        existing = made.isOwn ? [made.share] : await named(call);
        break;
      }
      case "wait":
        await finished(call, step.id);
        // A share of the name that another controller created until now is in this list.
        existing = await named(call);
        break;
      case "discard":
        for (const id of step.ids) await discard(call, id);
        existing = existing.filter(({ id }) => !step.ids.includes(id));
        break;
      case "yield":
        await discard(call, step.id);
        throw new CausewayError("CSI_ABORTED", `Another controller created share ${spec.name} at the same time.`);
      case "remove-failed":
        throw await removeFailed(call, step.share);
      case "fail":
        throw failure(step);
    }
  }
  throw new CausewayError("CSI_ABORTED", `Share ${spec.name} keeps changing.`);
}

const failure = (step: Extract<CreateStep, { type: "fail" }>) => new CausewayError(step.code, step.message);

/** The share after Manila has finished it, in whatever way. */
function finished({ storage, signal }: CreateCall, id: string): Promise<Share | undefined> {
  const isDone = (share: Share | undefined) => share === undefined || !isPending(share);
  return storage.shares.until(id, isDone, { signal, timeout: LONGEST_CALL });
}

async function named({ storage, spec, signal }: CreateCall): Promise<readonly Share[]> {
  const found = await storage.manila.shares.all({ name: spec.name }, { signal });
  return found.filter(({ name }) => name === spec.name);
}

/** `isOwn` is false when the answer was lost: the share that was found may be another controller's. */
async function create(call: CreateCall): Promise<{ readonly share: Share; readonly isOwn: boolean }> {
  const { storage, spec, signal, placement } = call;
  await requireSnapshot(call);
  let isOwn = true;
  const recover = async () => {
    const [first] = await named(call);
    isOwn &&= first === undefined;
    return first;
  };
  const hasHints = placement.sameHost !== "" || placement.differentHost !== "";
  const options = { signal, recover, ...(hasHints && { microversion: "2.65" }) };
  const share = await storage.manila.shares.create(bodyOf(call), options);
  call.log.info("created a share", { share: share.id, name: spec.name, gib: spec.gib });
  return { share, isOwn };
}

function bodyOf({ spec, placement }: CreateCall): SharedFileSystem.ShareCreate {
  const { sameHost, differentHost, groupId = spec.parameters.groupID } = placement;
  const hints = {
    ...(sameHost !== "" && { same_host: sameHost }),
    ...(differentHost !== "" && { different_host: differentHost }),
  };
  return {
    name: spec.name,
    description: SHARE_DESCRIPTION,
    share_proto: spec.protocol,
    share_type: spec.type,
    size: spec.gib,
    metadata: { ...spec.metadata },
    ...(spec.networkId !== undefined && { share_network_id: spec.networkId }),
    ...(spec.zone !== undefined && { availability_zone: spec.zone }),
    ...(spec.snapshotId !== undefined && { snapshot_id: spec.snapshotId }),
    ...(groupId !== undefined && { share_group_id: groupId }),
    ...(Object.keys(hints).length > 0 && { scheduler_hints: hints }),
  };
}

/** A source that is there and complete. */
async function requireSnapshot({ storage, spec, signal }: CreateCall): Promise<void> {
  const { snapshotId: id } = spec;
  if (id === undefined) return;
  const snapshot = await storage.manila.snapshots.find(id, { signal });
  if (!snapshot) throw new CausewayError("CSI_NOT_FOUND", `Source snapshot ${id} does not exist.`);
  if (snapshot.status === "creating") {
    throw new CausewayError("CSI_UNAVAILABLE", `Source snapshot ${id} is not yet available.`);
  }
  if (snapshot.status !== "available") {
    throw new CausewayError("CSI_FAILED_PRECONDITION", `Source snapshot ${id} has status ${snapshot.status}.`);
  }
  if (spec.gib >= snapshot.share_size) return;
  throw new CausewayError(
    "CSI_OUT_OF_RANGE",
    `The share of ${spec.gib} GiB is smaller than its source, snapshot ${id} of ${snapshot.share_size} GiB.`,
  );
}

/** Manila refuses to delete a share that it still creates. */
async function discard(call: CreateCall, id: string): Promise<void> {
  const { storage, spec, signal, log } = call;
  log.warn("deleting a second share of one name", { name: spec.name, share: id });
  if ((await finished(call, id)) === undefined) return;
  await storage.manila.shares.delete(id, { signal });
}

/** A share in status error is no share: delete it, and the next call creates another. */
async function removeFailed({ storage, signal, log }: CreateCall, { id, name }: Share): Promise<CausewayError> {
  const why = await lastFailure(storage, id, signal);
  log.warn("deleting a share that Manila could not create", { share: id, name, why: why.message });
  await storage.manila.shares.delete(id, { signal });
  return failed(`Manila could not create share ${id} named ${name}, which is deleted`, why);
}
