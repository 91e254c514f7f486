import { randomBytes, randomUUID } from "node:crypto";
import { hasCode } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import { copied, timestamp } from "../json/json.ts";
import { at } from "../json/json.ts";
import type { Draft } from "../contract/resource.ts";
import { alreadyExists, apiError, badRequest, forbidden, invalid, notFound } from "../errors/status.ts";
import { gateOf, type Gate } from "./admit.ts";
import type { StoreKey } from "../store/index.ts";
import { canonicalField } from "../wire/canonical.ts";
import { draftOf } from "./body.ts";
import { announce, charged, contextOf, keyOf, storedForm, type Call } from "../contract/call.ts";
import { withDefaults } from "./defaults.ts";
import { dedupOwners } from "./owners.ts";
import { problemsOf } from "./problems.ts";
import { noteNulls } from "./empty-metadata.ts";
import { refuseTooLarge } from "./size.ts";
import { tracked } from "./tracking.ts";

const GENERATED_ATTEMPTS = 8;
const LONGEST_REVISION = 20;
const SUFFIX_ALPHABET = "bcdfghjklmnpqrstvwxz2456789";

/** Creates an object from a parsed body; answers its stored form. */
export async function create(call: Call, body: unknown): Promise<KubeObject> {
  const draft = draftOf(call, body);
  dedupOwners(call, draft, "sent");
  const { name } = draft.metadata;
  if (call.name && name && name !== call.name) {
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${call.name})`);
  }
  if (call.name) draft.metadata.name = call.name;
  return createDraft(call, draft);
}

/** Creates what is already in its stored form and belongs to the caller. */
export async function createDraft(call: Call, draft: Draft, prepared = false): Promise<KubeObject> {
  checkNamespace(call, draft.metadata.name);
  const gate = gateOf(call, "CREATE");
  const asked = { draft, isTracked: prepared };
  const isMutated = gate.mutate !== undefined || call.resource.strategy.mutate !== undefined;
  if (!isMutated) return persistNamed(call, gate, asked);
  const admitted = await mutated(call, gate, asked);
  return charged(call, () => persistNamed(call, gate, admitted));
}

interface Admitted {
  readonly draft: Draft;
  readonly isTracked: boolean;
}

/**
 * What mutating admission makes of it. What it changes has no field manager: the client owns the fields that it wrote.
 */
async function mutated(call: Call, gate: Gate, { draft, isTracked }: Admitted): Promise<Admitted> {
  const { strategy } = call.resource;
  const context = contextOf(call);
  const given = (call.version.schema?.default(draft) ?? draft) as Draft;
  const owned = isTracked ? given : tracked(call, undefined, given);
  await strategy.mutate?.(owned, context);
  if (!gate.mutate) return { draft: owned, isTracked: true };
  strategy.applyDefaults?.(owned, context);
  const changed = await gate.mutate(owned, undefined);
  if ((changed.metadata.namespace ?? "") !== call.namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  return { draft: changed, isTracked: true };
}

async function persistNamed(call: Call, gate: Gate, { draft, isTracked }: Admitted): Promise<KubeObject> {
  const { generateName } = draft.metadata;
  if (draft.metadata.name || !generateName) return persist(call, prepare(call, draft, isTracked), gate);
  for (let attempt = 1; ; attempt += 1) {
    const named = copied(draft);
    named.metadata.name = `${generateName.slice(0, 58)}${suffix()}`;
    try {
      return await persist(call, prepare(call, named, isTracked), gate);
    } catch (error) {
      if (attempt === GENERATED_ATTEMPTS || !hasCode(error, "KUBERNETES_ALREADY_EXISTS")) throw error;
    }
  }
}

function prepare(call: Call, draft: Draft, isTracked: boolean): Draft {
  const { resource, version, cluster } = call;
  const { strategy } = resource;
  const context = contextOf(call);
  const { metadata } = draft;
  metadata.uid = randomUUID();
  metadata.creationTimestamp = timestamp(cluster.clock.now());
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  if (resource.generation) metadata.generation = 1;
  else delete metadata.generation;
  const hasStatus = version.subresources?.some((s) => s.name === "status") ?? false;
  if (hasStatus && strategy.keepsStatus !== true && call.subresource !== "status") delete draft["status"];
  const given = isTracked ? withDefaults(version, draft, "applied") : withDefaults(version, draft);
  // What the rules of a kind add has no field manager: the client owns the fields that it wrote.
  const filled = isTracked ? given : tracked(call, undefined, given);
  dedupOwners(call, filled, "made");
  strategy.prepareCreate?.(filled, context);
  strategy.applyDefaults?.(filled, context);
  if (hasStatus && !resource.custom) canonicalField(cluster.catalog.tables, filled, "status");
  const problems = problemsOf(call, filled);
  if (problems.length > 0) throw invalid(resource, filled.metadata.name ?? "", problems);
  strategy.admit?.(filled, undefined, context);
  if (!isTracked) return filled;
  const settled = withDefaults(version, filled);
  noteNulls(call, filled, settled);
  return settled;
}

async function persist(call: Call, draft: Draft, gate: Gate): Promise<KubeObject> {
  const { resource, cluster, dryRun } = call;
  const key = keyOf(call, draft.metadata.name);
  const release = resource.strategy.allocate?.(draft, undefined, contextOf(call));
  try {
    if (gate.validate) await gate.validate(draft, undefined);
    const form = storedForm(call, draft);
    const kept = form instanceof Promise ? await form : form;
    if (dryRun) {
      if (cluster.store.get(key)) throw taken(call, key);
      release?.();
      return kept;
    }
    refuseTooLarge(kept, resource.custom);
    refuseRevision(kept);
    const write = () => cluster.store.create(key, kept);
    const stored = await (cluster.quota?.write({ user: call.user, object: kept }, write) ?? write());
    announce(call, "ADDED", stored.object);
    return stored.object;
  } catch (error) {
    release?.();
    if (hasCode(error, "KUBERNETES_ALREADY_EXISTS")) throw taken(call, key);
    throw error;
  }
}

/**
 * As kube-apiserver's store refuses it, and only there: what is no revision is passed over, and so is each in a dry
 * run.
 */
function refuseRevision({ metadata: { resourceVersion = "" } }: Draft): void {
  if (!/^\d+$/.test(resourceVersion) || /^0+$/.test(resourceVersion)) return;
  if (BigInt(resourceVersion.slice(0, LONGEST_REVISION + 1)) >= 2n ** 64n) return;
  throw apiError(500, "", "resourceVersion should not be set on objects to be created");
}

/** An object of that name may be being deleted. */
function taken({ resource, cluster }: Call, key: StoreKey): Error {
  const isLeaving = cluster.store.get(key)?.object.metadata.deletionTimestamp !== undefined;
  return alreadyExists(resource, key.name, isLeaving ? "object is being deleted: " : "");
}

/** A namespaced object needs its namespace, and one that is not going away. */
function checkNamespace(call: Call, name: string): void {
  const { cluster, resource, namespace } = call;
  if (!resource.namespaced) return;
  const key = { cluster: cluster.name, resource: "/namespaces", namespace: "", name: namespace };
  const found = cluster.store.get(key)?.object;
  if (!found) throw notFound({ group: "", plural: "namespaces" }, namespace);
  if (at(found, "status", "phase") !== "Terminating") return;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const error = forbidden(resource, name, why);
  const status = error.details["status"] as { details?: object; message: string };
  const cause = {
    reason: "NamespaceTerminating",
    message: `namespace ${namespace} is being terminated`,
    field: "metadata.namespace",
  };
  throw apiError(403, "Forbidden", status.message, { ...status.details, causes: [cause] });
}

function suffix(): string {
  return Array.from(randomBytes(5), (byte) => SUFFIX_ALPHABET[byte % SUFFIX_ALPHABET.length]).join("");
}
