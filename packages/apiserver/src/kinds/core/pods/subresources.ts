import type { KubeObject } from "@causeway/kubernetes";
import { at, copied, fields, record, records, same, text, type Json } from "../../../json/json.ts";
import { forbiddenField, invalidValue } from "../../../errors/problems.ts";
import type { FieldProblem } from "../../../errors/status.ts";
import type { Draft } from "../../../contract/resource.ts";
import { podSpecProblems } from "./spec.ts";

/*
 * What may be changed of a pod that runs, in addition to the pod itself: containers to debug it
 * (pods/ephemeralcontainers), and what its containers ask for (pods/resize). Source: Kubernetes, "Ephemeral Containers"
 * and "Resize CPU and Memory Resources assigned to Containers".
 */

const specOf = (object: KubeObject): Json => record(fields(object)["spec"]);

/** Leaves the pod as it was, but for the containers that were added. */
export function keepButEphemeral(draft: Draft, old: KubeObject): void {
  const { ephemeralContainers } = specOf(draft);
  const { ephemeralContainers: _was, ...spec } = copied(specOf(old));
  keepRest(draft, old);
  draft["spec"] = ephemeralContainers === undefined ? spec : { ...spec, ephemeralContainers };
}

/** Leaves the pod as it was, but for its containers' resources. The rules report added or removed containers. */
export function keepButResources(draft: Draft, old: KubeObject): void {
  const [spec, was] = [specOf(draft), specOf(old)];
  const groups = ["containers", "initContainers"] as const;
  if (groups.some((group) => names(spec, group) !== names(was, group))) return;
  keepRest(draft, old);
  const next = copied(was);
  for (const group of groups) {
    const asked = records(spec[group]);
    for (const [i, container] of records(next[group]).entries()) {
      for (const name of ["resources", "resizePolicy"]) {
        const value = asked[i]?.[name];
        if (value === undefined) delete container[name];
        else container[name] = value;
      }
    }
  }
  draft["spec"] = next;
}

function keepRest(draft: Draft, old: KubeObject): void {
  const { labels, annotations, ownerReferences, finalizers } = copied(old.metadata);
  Object.assign(draft.metadata, { labels, annotations, ownerReferences, finalizers });
  for (const [name, value] of Object.entries(draft.metadata)) {
    if (value === undefined) delete (draft.metadata as unknown as Json)[name];
  }
  draft["status"] = copied(fields(old)["status"]);
}

function names(spec: Json, group: string): string {
  return records(spec[group])
    .map((c) => text(c["name"]))
    .join();
}

/** What is wrong with an update of a pod's ephemeral containers: they can only be added. */
export function ephemeralUpdateProblems(spec: Json, was: Json): FieldProblem[] {
  const field = "spec.ephemeralContainers";
  const added = new Map(records(spec["ephemeralContainers"]).map((c) => [text(c["name"]), c]));
  const removed = records(was["ephemeralContainers"]).filter((c) => !added.has(text(c["name"])));
  const changed = records(was["ephemeralContainers"]).filter((c) => {
    const now = added.get(text(c["name"]));
    return now !== undefined && !same(now, c);
  });
  const forbidden = (c: Json, what: string): FieldProblem =>
    forbiddenField(field, `existing ephemeral containers ${JSON.stringify(text(c["name"]))} may not be ${what}\n`);
  return [
    ...podSpecProblems(spec, "spec"),
    ...removed.map((c) => forbidden(c, "removed")),
    ...changed.map((c) => forbidden(c, "changed")),
  ];
}

const RESIZED = ["cpu", "memory"];

/** A node that says nothing of its containers' resources cannot change them. */
export function isResizable(status: unknown): boolean {
  const running = records(record(status)["containerStatuses"]).find((c) => at(c, "state", "running") !== undefined);
  return running === undefined || running["resources"] !== undefined;
}

/** `qosClassOf` returns the QoS class of a pod by its spec. */
export function resizeProblems(spec: Json, was: Json, qosClassOf: (spec: Json) => string): FieldProblem[] {
  const problems = podSpecProblems(spec, "spec");
  if (qosClassOf(spec) !== qosClassOf(was)) {
    const why = "Pod QOS Class may not change as a result of resizing";
    problems.push(invalidValue("spec", qosClassOf(was), why));
  }
  const order = ["containers", "initContainers"].flatMap((group) => orderProblems(spec, was, group));
  if (order.length > 0) return [...problems, ...order];
  const containers = records(spec["containers"]).flatMap((container, i) => {
    const before = records(was["containers"])[i] ?? {};
    return containerProblems(container, before, `spec.containers[${i}].resources`);
  });
  const fixed = records(spec["initContainers"]).some((container, i) => {
    const before = records(was["initContainers"])[i] ?? {};
    return container["restartPolicy"] !== "Always" && !same(container, before);
  });
  const why = "resources for non-sidecar init containers are immutable";
  return [...problems, ...containers, ...(fixed ? [forbiddenField("spec", why)] : [])];
}

function orderProblems(spec: Json, was: Json, group: string): FieldProblem[] {
  const field = `spec.${group}`;
  const [now, before] = [records(spec[group]), records(was[group])];
  if (now.length !== before.length) {
    return [forbiddenField(field, `${group} may not be added or removed on resize`)];
  }
  const why = `${group} may not be renamed or reordered on resize`;
  return before.flatMap((container, i) =>
    container["name"] === now[i]?.["name"] ? [] : [forbiddenField(`${field}[${i}].name`, why)],
  );
}

function containerProblems(container: Json, before: Json, field: string): FieldProblem[] {
  const removed = ["requests", "limits"].flatMap((list) => {
    const [now, was] = [container, before].map((c) => record(at(c, "resources", list)));
    const gone = RESIZED.filter((name) => was?.[name] !== undefined && now?.[name] === undefined);
    return gone.length > 0 ? [forbiddenField(`${field}.${list}`, `resource ${list} cannot be removed`)] : [];
  });
  const others = (c: Json): Json[] =>
    ["limits", "requests"].map((list) =>
      Object.fromEntries(Object.entries(record(at(c, "resources", list))).filter(([name]) => !RESIZED.includes(name))),
    );
  const isOther = !same(others(container), others(before));
  return isOther ? [...removed, forbiddenField("spec", "only cpu and memory resources are mutable")] : removed;
}
