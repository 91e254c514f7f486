import { parseIp } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import { at, fields, record, records, same, text, type Json } from "../../../json/json.ts";
import { forbiddenField, invalidValue } from "../../../errors/problems.ts";
import type { FieldProblem } from "../../../errors/status.ts";
import { dnsName, duplicate, each, identity, labelName } from "../../shared/checks.ts";

/*
 * What the status of a pod may say. Source: Kubernetes API reference, PodStatus; "Pod Lifecycle".
 */

/**
 * Which generation a status is about, and its conditions, remains where a writer does not say it. Changes `status` in
 * place.
 */
export function keepObserved(status: Json, was: Json): void {
  if (!status["observedGeneration"] && was["observedGeneration"] !== undefined)
    status["observedGeneration"] = was["observedGeneration"];
  const left = [...records(was["conditions"])];
  for (const condition of records(status["conditions"])) {
    const index = left.findIndex((old) => old["type"] === condition["type"]);
    const [old] = index < 0 ? [] : left.splice(index, 1);
    if (!condition["observedGeneration"] && old?.["observedGeneration"] !== undefined)
      condition["observedGeneration"] = old["observedGeneration"];
  }
}

const OWN_CONDITIONS: ReadonlySet<unknown> = new Set(["PodScheduled", "Ready", "Initialized"]);
const GROUPS = ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"];

/** What is wrong with an update of a pod's status, given the status before. */
export function statusProblems(object: KubeObject, old: KubeObject): FieldProblem[] {
  const [status, was] = [object, old].map((pod) => record(fields(pod)["status"])) as [Json, Json];
  const spec = record(fields(old)["spec"]);
  const { nominatedNodeName: nominated, qosClass } = status;
  const isNominated = text(nominated) !== "" && nominated !== was["nominatedNodeName"];
  return [
    ...conditionProblems(status),
    ...(isNominated ? dnsName("status.nominatedNodeName", text(nominated)) : []),
    ...generationProblems(status, "status.observedGeneration"),
    ...(same(qosClass, was["qosClass"]) ? [] : [invalidValue("status.qosClass", qosClass, "field is immutable")]),
    ...GROUPS.flatMap((group) => restartProblems(group, { status, was, spec })),
    ...claimProblems(status, spec),
    ...addressProblems(status, was, "podIPs"),
    ...hostProblems(status),
    ...addressProblems(status, was, "hostIPs"),
    ...GROUPS.flatMap((group) => userProblems(status, spec, group)),
  ];
}

function generationProblems({ observedGeneration: generation }: Json, field: string): FieldProblem[] {
  const isNegative = typeof generation === "number" && generation < 0;
  return isNegative ? [invalidValue(field, generation, "must be a non-negative integer")] : [];
}

function conditionProblems(status: Json): FieldProblem[] {
  return each("status.conditions", status["conditions"], (condition, place) => [
    ...generationProblems(condition, `${place}.observedGeneration`),
    ...(OWN_CONDITIONS.has(condition["type"]) ? [] : labelName(`${place}.Type`, text(condition["type"]))),
  ]);
}

interface Change {
  readonly status: Json;
  readonly was: Json;
  readonly spec: Json;
}

/** What has ended does not run again, unless its pod starts it again. */
function restartProblems(group: string, { status, was, spec }: Change): FieldProblem[] {
  const policy = spec["restartPolicy"];
  const isEphemeral = group === "ephemeralContainerStatuses";
  if (policy === "Always" && !isEphemeral) return [];
  return records(was[group]).flatMap((old, i) => {
    const ended = at(old, "state", "terminated");
    if (ended === undefined) return [];
    const failed = (record(ended)["exitCode"] ?? 0) !== 0;
    if (!isEphemeral && failed && policy === "OnFailure") return [];
    if (group === "initContainerStatuses" && isSidecar(spec, old["name"])) return [];
    const again = records(status[group]).filter(
      (now) => now["name"] === old["name"] && at(now, "state", "terminated") === undefined,
    );
    const why = "may not be transitioned to non-terminated state";
    return again.map(() => forbiddenField(`status.${group}[${i}].state`, why));
  });
}

function isSidecar(spec: Json, name: unknown): boolean {
  return records(spec["initContainers"]).find((c) => c["name"] === name)?.["restartPolicy"] === "Always";
}

function claimProblems(status: Json, spec: Json): FieldProblem[] {
  const known = new Set(records(spec["resourceClaims"]).map((claim) => claim["name"]));
  const seen = new Set<string>();
  return each("status.resourceClaimStatuses", status["resourceClaimStatuses"], (one, place) => {
    const name = text(one["name"]);
    const why = "must match the name of an entry in `spec.resourceClaims`";
    const problems = known.has(name) ? [] : [invalidValue(`${place}.name`, name, why)];
    if (seen.has(name)) problems.push(duplicate(`${place}.name`, name));
    seen.add(name);
    const { resourceClaimName: claim } = one;
    return claim === undefined ? problems : [...problems, ...dnsName(`${place}.name`, text(claim))];
  });
}

const ADDRESS = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";

/** Addresses: one of each family at most; such as were there before may be wrong. */
function addressProblems(status: Json, was: Json, name: "podIPs" | "hostIPs"): FieldProblem[] {
  const addresses = records(status[name]).map(({ ip }) => text(ip));
  const before = new Set(records(was[name]).map(({ ip }) => text(ip)));
  const field = `status.${name}`;
  const problems = addresses.flatMap((ip, i) =>
    parseIp(ip) || before.has(ip) ? [] : [invalidValue(`${field}[${i}]`, ip, ADDRESS)],
  );
  const families = new Set(addresses.map((ip) => parseIp(ip)?.version));
  if (addresses.length < 2 || (addresses.length === 2 && families.size === 2)) return problems;
  const shown = addresses.map((ip) => ({ IP: ip }));
  return [...problems, invalidValue(field, shown, "may specify no more than one IP for each IP family")];
}

function hostProblems(status: Json): FieldProblem[] {
  const [first] = records(status["hostIPs"]);
  if (first === undefined || text(first["ip"]) === text(status["hostIP"])) return [];
  return [invalidValue("status.hostIPs[0].ip", text(first["ip"]), "must be equal to `hostIP`")];
}

function userProblems(status: Json, spec: Json, group: string): FieldProblem[] {
  const isWindows = at(spec, "os", "name") === "windows";
  return each(`status.${group}`, status[group], (container, place) => {
    const linux = at(container, "user", "linux");
    if (linux === undefined) return [];
    const field = `${place}.user.linux`;
    if (isWindows) return [forbiddenField(field, "cannot be set for a windows pod")];
    const { uid, gid, supplementalGroups } = record(linux);
    const groups = Array.isArray(supplementalGroups) ? (supplementalGroups as unknown[]) : [];
    return [
      ...identity(`${field}.uid`, uid),
      ...identity(`${field}.gid`, gid),
      ...groups.flatMap((id, i) => identity(`${field}.supplementalGroups[${i}]`, id)),
    ];
  });
}
