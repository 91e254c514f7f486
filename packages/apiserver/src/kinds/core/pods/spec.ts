import { at, record, records, text, type Json } from "../../../json/json.ts";
import { forbiddenField, invalidValue, notSupported } from "../../../errors/problems.ts";
import type { FieldProblem } from "../../../errors/status.ts";
import { between, dnsName, duplicate, each, given, labelName, labelNeeded, labelValue } from "../../shared/checks.ts";
import {
  claimNames,
  containerProblems,
  ephemeralProblems,
  hostNetworkProblems,
  type Surroundings,
} from "./containers.ts";
import { volumesOf } from "./mounts.ts";
import { dnsConfigProblems, dnsPolicyProblems, hostAliasProblems, hostNameProblems } from "./network.ts";
import { amountProblems, nameProblems } from "./resources.ts";
import { affinityProblems, gateProblems, spreadProblems, tolerationProblems } from "./scheduling.ts";
import { podSecurityProblems, systemProblems } from "./security.ts";
import { volumeProblems } from "./volumes.ts";

const RESTARTS = ["Always", "OnFailure", "Never"];
const GRACE_SECONDS = 30;
const LONGEST_DEADLINE = 2_147_483_647;

function surroundings(spec: Json): Surroundings {
  const grace = spec["terminationGracePeriodSeconds"];
  return {
    volumes: volumesOf(spec),
    claims: claimNames(spec),
    grace: typeof grace === "number" ? grace : GRACE_SECONDS,
    hostUsers: spec["hostUsers"] !== false,
    hostNetwork: spec["hostNetwork"] === true,
    restartPolicy: text(spec["restartPolicy"]),
  };
}

/** What is wrong with a PodSpec, its fields named from `path`, in kube-apiserver's order. */
export function podSpecProblems(spec: Json, path: string): FieldProblem[] {
  const around = surroundings(spec);
  const policy = text(spec["restartPolicy"]);
  return [
    ...volumeProblems(spec, path),
    ...claimProblems(spec, path),
    ...containerProblems(spec, path, around),
    ...ephemeralProblems(spec, path, around),
    ...hostNetworkProblems(spec, path),
    ...(policy === "" || RESTARTS.includes(policy) ? [] : [notSupported(`${path}.restartPolicy`, policy, RESTARTS)]),
    ...dnsPolicyProblems(spec, path),
    ...Object.entries(record(spec["nodeSelector"])).flatMap(([key, value]) => [
      ...labelName(`${path}.nodeSelector`, key),
      ...labelValue(`${path}.nodeSelector`, text(value)),
    ]),
    ...podSecurityProblems(spec, path),
    ...affinityProblems(spec["affinity"], `${path}.affinity`),
    ...dnsConfigProblems(spec, path),
    ...gateProblems(spec, path),
    ...spreadProblems(spec["topologySpreadConstraints"], `${path}.topologySpreadConstraints`),
    ...named(spec, path, "serviceAccountName"),
    ...named(spec, path, "nodeName"),
    ...between(`${path}.activeDeadlineSeconds`, spec["activeDeadlineSeconds"], [1, LONGEST_DEADLINE]),
    ...hostNameProblems(spec, path),
    ...tolerationProblems(spec["tolerations"], `${path}.tolerations`),
    ...hostAliasProblems(spec, path),
    ...named(spec, path, "priorityClassName"),
    ...named(spec, path, "runtimeClassName"),
    ...overheadProblems(spec, path),
    ...systemProblems(spec, path),
  ];
}

function named(spec: Json, path: string, field: string): FieldProblem[] {
  const value = text(spec[field]);
  return value === "" ? [] : dnsName(`${path}.${field}`, value);
}

function overheadProblems(spec: Json, path: string): FieldProblem[] {
  return Object.entries(record(spec["overhead"])).flatMap(([name, amount]) => {
    const field = `${path}.overhead.limits[${name}]`;
    return [...nameProblems(field, name), ...amountProblems(field, name, amount)];
  });
}

const REFERENCES = ["resourceClaimName", "resourceClaimTemplateName"];

function claimProblems(spec: Json, path: string): FieldProblem[] {
  const seen = new Set<string>();
  return each(`${path}.resourceClaims`, spec["resourceClaims"], (claim, field) => {
    const name = text(claim["name"]);
    const problems = labelNeeded(`${field}.name`, name);
    if (name !== "" && seen.has(name)) problems.push(duplicate(`${field}.name`, name));
    seen.add(name);
    const chosen = REFERENCES.filter((r) => given(claim, r));
    const shown = {
      Name: name,
      ResourceClaimName: claim["resourceClaimName"] ?? null,
      ResourceClaimTemplateName: claim["resourceClaimTemplateName"] ?? null,
    };
    const list = "`resourceClaimName`, `resourceClaimTemplateName`";
    if (chosen.length > 1) problems.push(invalidValue(field, shown, `at most one of ${list} may be specified`));
    if (chosen.length === 0) problems.push(invalidValue(field, shown, `must specify one of: ${list}`));
    return [...problems, ...chosen.flatMap((r) => dnsName(`${field}.${r}`, text(claim[r])))];
  });
}

/** What a pod must not have when it is made. */
export function newPodProblems(spec: Json, path: string): FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (records(spec["ephemeralContainers"]).length > 0) {
    problems.push(forbiddenField(`${path}.ephemeralContainers`, "cannot be set on create"));
  }
  const isGated = records(spec["schedulingGates"]).length > 0;
  if (isGated && text(at(spec, "nodeName"))) {
    problems.push(forbiddenField(`${path}.nodeName`, "cannot be set until all schedulingGates have been cleared"));
  }
  return problems;
}
