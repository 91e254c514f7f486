import { array, at, isRecord, record, records, text, texts, type Json } from "../../../json/json.ts";
import { forbiddenField, invalidValue, required } from "../../../errors/problems.ts";
import type { FieldProblem } from "../../../errors/status.ts";
import { duplicate, identity, neededText, supported } from "../../shared/checks.ts";

/*
 * Security contexts of pods and containers. Source: Kubernetes API reference, PodSpec: Security context.
 */

const PROFILES = ["Localhost", "RuntimeDefault", "Unconfined"];

function seccompProblems(profile: unknown, field: string): FieldProblem[] {
  if (!isRecord(profile)) return [];
  const { type, localhostProfile } = profile;
  const at = `${field}.localhostProfile`;
  if (!text(type)) return [required(`${field}.type`, "type is required when seccompProfile is set")];
  if (!PROFILES.includes(text(type))) return supported(`${field}.type`, type, PROFILES);
  if (type === "Localhost") {
    const detail = "must be set when seccomp type is Localhost";
    return text(localhostProfile) ? [] : [required(at, detail)];
  }
  if (localhostProfile === undefined) return [];
  const shown = { Type: type, LocalhostProfile: localhostProfile };
  return [invalidValue(at, shown, "can only be set when seccomp type is Localhost")];
}

function appArmorProblems(profile: unknown, field: string): FieldProblem[] {
  if (!isRecord(profile)) return [];
  const { type, localhostProfile } = profile;
  const at = `${field}.localhostProfile`;
  if (!text(type)) return [required(`${field}.type`, "type is required when appArmorProfile is set")];
  if (!PROFILES.includes(text(type))) return supported(`${field}.type`, type, PROFILES);
  if (type === "Localhost") {
    return text(localhostProfile) ? [] : [required(at, "must be set when AppArmor type is Localhost")];
  }
  if (localhostProfile === undefined) return [];
  return [invalidValue(at, localhostProfile, "can only be set when AppArmor type is Localhost")];
}

/** As kube-apiserver shows a container's security context whole. */
function shownContext(context: Json): Json {
  const { capabilities } = context;
  const { add = null, drop = null } = record(capabilities);
  const names = [
    "privileged",
    "seLinuxOptions",
    "windowsOptions",
    "runAsUser",
    "runAsGroup",
    "runAsNonRoot",
    "readOnlyRootFilesystem",
    "allowPrivilegeEscalation",
    "procMount",
    "seccompProfile",
    "appArmorProfile",
  ];
  const named = (name: string): string =>
    name === "seLinuxOptions" ? "SELinuxOptions" : `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  const shown = names.map((name) => [named(name), context[name] ?? null]);
  return { Capabilities: capabilities ? { Add: add, Drop: drop } : null, ...(Object.fromEntries(shown) as Json) };
}

/** Of one container; `hostUsers` is false where the pod has users of its own. */
export function containerSecurityProblems(context: unknown, field: string, hostUsers: boolean): FieldProblem[] {
  if (!isRecord(context)) return [];
  const problems = [
    ...identity(`${field}.runAsUser`, context["runAsUser"]),
    ...identity(`${field}.runAsGroup`, context["runAsGroup"]),
    ...supported(`${field}.procMount`, context["procMount"], ["Default", "Unmasked"]),
  ];
  if (hostUsers && context["procMount"] === "Unmasked") {
    problems.push(invalidValue(`${field}.procMount`, "Unmasked", "`hostUsers` must be false to use `Unmasked`"));
  }
  problems.push(...seccompProblems(context["seccompProfile"], `${field}.seccompProfile`));
  if (context["allowPrivilegeEscalation"] === false) {
    const gained = [
      ...(context["privileged"] === true ? ["`privileged` to true"] : []),
      ...texts(at(context, "capabilities", "add"))
        .filter((name) => name === "CAP_SYS_ADMIN")
        .map((name) => `\`capabilities.Add\` ${name}`),
    ];
    const why = (what: string): string => `cannot set \`allowPrivilegeEscalation\` to false and ${what}`;
    problems.push(...gained.map((what) => invalidValue(field, shownContext(context), why(what))));
  }
  return [...problems, ...appArmorProblems(context["appArmorProfile"], `${field}.appArmorProfile`)];
}

const SYSCTL = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/;
const SYSCTL_RULE =
  "must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";

function sysctlProblems(sysctls: unknown, field: string): FieldProblem[] {
  const seen = new Set<string>();
  return records(sysctls).flatMap((sysctl, i): FieldProblem[] => {
    const name = text(sysctl["name"]);
    const at = `${field}[${i}].name`;
    if (name === "") return neededText(at, name);
    const isWrong = name.length > 253 || !SYSCTL.test(name);
    const problems = isWrong ? [invalidValue(at, name, SYSCTL_RULE)] : [];
    if (seen.has(name)) problems.push(duplicate(at, name));
    seen.add(name);
    return problems;
  });
}

/** Of the pod as a whole, with what is next to its security context. */
export function podSecurityProblems(spec: Json, path: string): FieldProblem[] {
  const context = record(spec["securityContext"]);
  const field = `${path}.securityContext`;
  const problems = [
    ...identity(`${field}.fsGroup`, context["fsGroup"]),
    ...identity(`${field}.runAsUser`, context["runAsUser"]),
    ...identity(`${field}.runAsGroup`, context["runAsGroup"]),
    ...array(context["supplementalGroups"]).flatMap((g, i) => identity(`${field}.supplementalGroups[${i}]`, g)),
  ];
  if (spec["shareProcessNamespace"] === true && spec["hostPID"] === true) {
    const why = "ShareProcessNamespace and HostPID cannot both be enabled";
    problems.push(invalidValue(`${field}.shareProcessNamespace`, true, why));
  }
  return [
    ...problems,
    ...sysctlProblems(context["sysctls"], `${field}.sysctls`),
    ...supported(`${field}.fsGroupChangePolicy`, context["fsGroupChangePolicy"], ["Always", "OnRootMismatch"]),
    ...seccompProblems(context["seccompProfile"], `${field}.seccompProfile`),
    ...appArmorProblems(context["appArmorProfile"], `${field}.appArmorProfile`),
    ...supported(`${field}.supplementalGroupsPolicy`, context["supplementalGroupsPolicy"], ["Merge", "Strict"]),
    ...hostProblems(spec, path),
  ];
}

const HOST_FIELDS = { hostNetwork: "hostNetwork", hostPID: "HostPID", hostIPC: "HostIPC" };

/** A pod with users of its own shares nothing with its host. */
function hostProblems(spec: Json, path: string): FieldProblem[] {
  if (spec["hostUsers"] !== false) return [];
  return Object.entries(HOST_FIELDS)
    .filter(([name]) => spec[name] === true)
    .map(([, shown]) => forbiddenField(`${path}.${shown}`, "when `hostUsers` is false"));
}

/** What only Linux knows. */
const LINUX_OF_PODS = [
  "appArmorProfile",
  "seLinuxOptions",
  "seccompProfile",
  "fsGroup",
  "fsGroupChangePolicy",
  "sysctls",
  "runAsUser",
  "runAsGroup",
  "supplementalGroups",
  "supplementalGroupsPolicy",
  "seLinuxChangePolicy",
];
const LINUX_OF_CONTAINERS = [
  "appArmorProfile",
  "seLinuxOptions",
  "seccompProfile",
  "capabilities",
  "readOnlyRootFilesystem",
  "privileged",
  "allowPrivilegeEscalation",
  "procMount",
  "runAsUser",
  "runAsGroup",
];

/** A pod says for which system it is, and then has nothing of the other. */
export function systemProblems(spec: Json, path: string): FieldProblem[] {
  const { os } = spec;
  if (!isRecord(os)) return [];
  const name = text(os["name"]);
  if (name === "") return [required(`${path}.os.name`)];
  if (name !== "linux" && name !== "windows") return supported(`${path}.os`, name, ["linux", "windows"]);
  const forbidden = (at: string, context: unknown, names: readonly string[]): FieldProblem[] =>
    names
      .filter((field) => record(context)[field] !== undefined)
      .map((field) => forbiddenField(`${at}.securityContext.${field}`, `cannot be set for a ${name} pod`));
  const [ofPods, ofContainers] =
    name === "windows" ? [LINUX_OF_PODS, LINUX_OF_CONTAINERS] : [["windowsOptions"], ["windowsOptions"]];
  const ofPod = forbidden(path, spec["securityContext"], ofPods);
  const groups = ["initContainers", "containers", "ephemeralContainers"].flatMap((group) =>
    records(spec[group]).flatMap((c, i) => forbidden(`${path}.${group}[${i}]`, c["securityContext"], ofContainers)),
  );
  return [...ofPod, ...groups];
}
