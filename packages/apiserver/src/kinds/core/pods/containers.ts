import { record, records, text, texts, type Json } from "../../../json/json.ts";
import { forbiddenField, invalidValue, required } from "../../../errors/problems.ts";
import type { FieldProblem } from "../../../errors/status.ts";
import { between, duplicate, each, given, labelNeeded, portNameFaults, PORTS, supported } from "../../shared/checks.ts";
import { environmentProblems } from "./environment.ts";
import { lifecycleProblems, probeProblems } from "./handlers.ts";
import { deviceProblems, mountProblems, type Volumes } from "./mounts.ts";
import { resizePolicyProblems, resourceProblems } from "./resources.ts";
import { containerSecurityProblems } from "./security.ts";

/*
 * Containers of a pod: its own, those that run first, and those that are added to debug it. Source: Kubernetes API
 * reference, Container.
 */

/** What containers are checked against. */
export interface Surroundings {
  readonly volumes: Volumes;
  /** Names of the pod's resource claims. */
  readonly claims: readonly string[];
  /** Seconds. */
  readonly grace: number;
  readonly hostUsers: boolean;
  readonly hostNetwork: boolean;
  readonly restartPolicy: string;
}

const MESSAGE_POLICIES = ["File", "FallbackToLogsOnError"];
const PULL_POLICIES = ["Always", "IfNotPresent", "Never"];
const PROTOCOLS = ["SCTP", "TCP", "UDP"];

function commonProblems(container: Json, field: string, around: Surroundings): FieldProblem[] {
  return [
    ...labelNeeded(`${field}.name`, container["name"]),
    ...(text(container["image"]) === "" ? [required(`${field}.image`)] : []),
    ...supported(`${field}.terminationMessagePolicy`, container["terminationMessagePolicy"], MESSAGE_POLICIES),
    ...portProblems(container, field),
    ...environmentProblems(container, field),
    ...mountProblems(container, field, around.volumes),
    ...deviceProblems(container, field, around.volumes),
    ...supported(`${field}.imagePullPolicy`, container["imagePullPolicy"] || undefined, PULL_POLICIES),
    ...resourceProblems(container["resources"], `${field}.resources`, around.claims),
    ...resizePolicyProblems(container["resizePolicy"], `${field}.resizePolicy`, around.restartPolicy),
    ...containerSecurityProblems(container["securityContext"], `${field}.securityContext`, around.hostUsers),
  ];
}

function portProblems(container: Json, field: string): FieldProblem[] {
  const names = new Set<string>();
  return each(`${field}.ports`, container["ports"], (port, at) => {
    const name = text(port["name"]);
    const problems: FieldProblem[] = [];
    if (name !== "") {
      const faults = portNameFaults(name);
      problems.push(...faults.map((why) => invalidValue(`${at}.name`, name, why)));
      if (faults.length === 0 && names.has(name)) problems.push(duplicate(`${at}.name`, name));
      if (faults.length === 0) names.add(name);
    }
    const number = port["containerPort"] ?? 0;
    problems.push(
      ...(number === 0 ? [required(`${at}.containerPort`)] : between(`${at}.containerPort`, number, PORTS)),
    );
    if (port["hostPort"] !== undefined && port["hostPort"] !== 0) {
      problems.push(...between(`${at}.hostPort`, port["hostPort"], PORTS));
    }
    return [...problems, ...supported(`${at}.protocol`, port["protocol"], PROTOCOLS)];
  });
}

/** A port of the host is one container's. */
function hostPortProblems(containers: readonly Json[], field: string, first = 0): FieldProblem[] {
  const seen = new Set<string>();
  return containers.flatMap((container, i) =>
    each(`${field}[${i + first}].ports`, container["ports"], (port, at) => {
      if (!port["hostPort"]) return [];
      const key = `${text(port["protocol"])}/${text(port["hostIP"])}/${String(port["hostPort"] as number)}`;
      const problems = seen.has(key) ? [duplicate(`${at}.hostPort`, key)] : [];
      seen.add(key);
      return problems;
    }),
  );
}

/** What is wrong with the containers of a pod. */
export function containerProblems(spec: Json, path: string, around: Surroundings): FieldProblem[] {
  const field = `${path}.containers`;
  const containers = records(spec["containers"]);
  if (containers.length === 0) return [required(field), ...initProblems(spec, path, around)];
  const names = new Set<string>();
  const problems = containers.flatMap((container, i) => {
    const at = `${field}[${i}]`;
    const name = text(container["name"]);
    const twice = names.has(name) ? [duplicate(`${at}.name`, name)] : [];
    names.add(name);
    return [
      ...commonProblems(container, at, around),
      ...twice,
      ...lifecycleProblems(container["lifecycle"], `${at}.lifecycle`, around.grace),
      ...probeProblems(container, at, around.grace),
    ];
  });
  return [...problems, ...hostPortProblems(containers, field), ...initProblems(spec, path, around)];
}

const RUNNING_ONLY = ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"];

function initProblems(spec: Json, path: string, around: Surroundings): FieldProblem[] {
  const field = `${path}.initContainers`;
  const names = new Set(records(spec["containers"]).map((c) => text(c["name"])));
  return records(spec["initContainers"]).flatMap((container, i) => {
    const at = `${field}[${i}]`;
    const name = text(container["name"]);
    const problems = commonProblems(container, at, around);
    if (names.has(name)) problems.push(duplicate(`${at}.name`, name));
    if (name !== "") names.add(name);
    problems.push(...hostPortProblems([container], field));
    if (container["restartPolicy"] !== "Always") {
      const why = "may not be set for init containers without restartPolicy=Always";
      return [
        ...problems,
        ...RUNNING_ONLY.filter((n) => given(container, n)).map((n) => forbiddenField(`${at}.${n}`, why)),
      ];
    }
    return [
      ...problems,
      ...lifecycleProblems(container["lifecycle"], `${at}.lifecycle`, around.grace),
      ...probeProblems(container, at, around.grace),
    ];
  });
}

const EPHEMERAL_FIELDS = [
  "name",
  "image",
  "command",
  "args",
  "workingDir",
  "envFrom",
  "env",
  "volumeMounts",
  "volumeDevices",
  "terminationMessagePath",
  "terminationMessagePolicy",
  "imagePullPolicy",
  "securityContext",
  "stdin",
  "stdinOnce",
  "tty",
  "targetContainerName",
];

/** What is wrong with containers that were added to a pod that runs. */
export function ephemeralProblems(spec: Json, path: string, around: Surroundings): FieldProblem[] {
  const field = `${path}.ephemeralContainers`;
  const others = ["containers", "initContainers"].flatMap((group) => records(spec[group]).map((c) => text(c["name"])));
  const names = new Set(others);
  return records(spec["ephemeralContainers"]).flatMap((container, i) => {
    const at = `${field}[${i}]`;
    const name = text(container["name"]);
    const target = text(container["targetContainerName"]);
    const problems = commonProblems(container, at, around);
    if (names.has(name)) problems.push(duplicate(`${at}.name`, name));
    names.add(name);
    if (target !== "" && !others.includes(target)) {
      problems.push({
        field: `${at}.targetContainerName`,
        message: `Not found: ${JSON.stringify(target)}`,
        reason: "FieldValueNotFound",
      });
    }
    const isSet = (value: unknown): boolean =>
      Array.isArray(value) ? value.length > 0 : Object.keys(record(value)).length > 0 || typeof value === "string";
    const unknown = Object.keys(container).filter((n) => !EPHEMERAL_FIELDS.includes(n) && isSet(container[n]));
    problems.push(...unknown.map((n) => forbiddenField(`${at}.${n}`, "cannot be set for an Ephemeral Container")));
    const subPaths = records(container["volumeMounts"]).flatMap((mount, j) =>
      ["subPath", "subPathExpr"]
        .filter((n) => text(mount[n]) !== "")
        .map((n) => forbiddenField(`${at}.volumeMounts[${j}].${n}`, "cannot be set for an Ephemeral Container")),
    );
    return [...problems, ...subPaths];
  });
}

/** Host ports of a pod in its host's network are the container's; in a template they may be left to be filled in. */
export function hostNetworkProblems(spec: Json, path: string): FieldProblem[] {
  if (spec["hostNetwork"] !== true) return [];
  const isPod = path === "spec";
  return records(spec["containers"]).flatMap((container, i) =>
    each(`${path}.containers[${i}].ports`, container["ports"], (port, at) => {
      const { hostPort = 0 } = port;
      if (hostPort === port["containerPort"] || (hostPort === 0 && !isPod)) return [];
      return [invalidValue(`${at}.hostPort`, hostPort, "must match `containerPort` when `hostNetwork` is true")];
    }),
  );
}

/** A pod of its own, unlike one in a template, has no spaces about its images. */
export function imageProblems(spec: Json, path: string): FieldProblem[] {
  return ["containers", "initContainers"].flatMap((group) =>
    records(spec[group]).flatMap((container, i) => {
      const image = text(container["image"]);
      const why = "must not have leading or trailing whitespace";
      return image === image.trim() ? [] : [invalidValue(`${path}.${group}[${i}].image`, image, why)];
    }),
  );
}

/** The names by which a pod's containers may refer to its resource claims. */
export function claimNames(spec: Json): readonly string[] {
  return texts(records(spec["resourceClaims"]).map((claim) => claim["name"]));
}
