import { isRecord, record, records, scalar, text, type Json } from "../../../json/json.ts";
import { forbiddenField, invalidValue, required } from "../../../errors/problems.ts";
import type { FieldProblem } from "../../../errors/status.ts";
import { nanosOf } from "../../../syntax/quantity.ts";
import { duplicate, labelName, neededText, notFoundValue, supported } from "../../shared/checks.ts";

/*
 * What containers ask for. Source: Kubernetes, "Resource Management for Pods and Containers", and "Extended resources".
 */

const STANDARD = ["cpu", "memory", "ephemeral-storage"];
const STANDARD_ANYWHERE = [...STANDARD, "storage", "pods", "services", "requests.cpu", "requests.memory"];
const HUGE = "hugepages-";
const ONE = 1_000_000_000n;

const isHuge = (name: string): boolean => name.startsWith(HUGE);
const isNative = (name: string): boolean => !name.includes("/") || name.includes("kubernetes.io/");

/** A resource that is not Kubernetes' own, and counted in whole pieces. */
function isExtended(name: string): boolean {
  if (isNative(name) || name.startsWith("requests.")) return false;
  return labelName("", `requests.${name}`).length === 0;
}

/** What is wrong with the name of a resource of a container, such as "cpu" or "example.com/gpu". */
export function nameProblems(field: string, name: string): FieldProblem[] {
  const faults = labelName(field, name);
  if (faults.length > 0) return [...faults, ...nameOfContainer(field, name)];
  if (!name.includes("/") && !STANDARD_ANYWHERE.includes(name) && !isHuge(name)) {
    faults.push(invalidValue(field, name, "must be a standard resource type or fully qualified"));
  }
  return [...faults, ...nameOfContainer(field, name)];
}

function nameOfContainer(field: string, name: string): FieldProblem[] {
  if (!name.includes("/")) {
    const isKnown = STANDARD.includes(name) || isHuge(name);
    return isKnown ? [] : [invalidValue(field, name, "must be a standard resource for containers")];
  }
  const isOwn = name.includes("kubernetes.io/");
  return isOwn || isExtended(name) ? [] : [invalidValue(field, name, "doesn't follow extended resource name standard")];
}

/** What is wrong with an amount: none is negative, and extended resources are counted in whole pieces. */
export function amountProblems(field: string, name: string, amount: unknown): FieldProblem[] {
  const nanos = nanosOf(amount) ?? 0n;
  if (nanos < 0n) return [invalidValue(field, scalar(amount), "must be greater than or equal to 0")];
  const isPart = isExtended(name) && nanos % ONE !== 0n;
  return isPart ? [invalidValue(field, scalar(amount), "must be an integer")] : [];
}

/** Of a container's or a pod's resources; `claims` are the names that the pod gives its resource claims. */
export function resourceProblems(resources: unknown, field: string, claims: readonly string[]): FieldProblem[] {
  if (!isRecord(resources)) return [];
  const limits = record(resources["limits"]);
  const requests = record(resources["requests"]);
  const problems = Object.entries(limits).flatMap(([name, amount]) => {
    const at = `${field}.limits[${name}]`;
    return [...nameProblems(at, name), ...amountProblems(at, name, amount)];
  });
  for (const [name, amount] of Object.entries(requests)) {
    const at = `${field}.requests[${name}]`;
    problems.push(...nameProblems(at, name), ...amountProblems(at, name, amount));
    problems.push(...againstLimit(field, { name, amount, limit: limits[name] }));
  }
  problems.push(...hugeProblems(field, [...Object.keys(limits), ...Object.keys(requests)]));
  return [...problems, ...claimProblems(resources, field, claims)];
}

function againstLimit(
  field: string,
  { name, amount, limit }: { name: string; amount: unknown; limit: unknown },
): FieldProblem[] {
  const isFixed = !STANDARD.includes(name) && (isHuge(name) || isExtended(name));
  if (limit === undefined) {
    return isFixed ? [required(`${field}.limits`, "Limit must be set for non overcommitable resources")] : [];
  }
  const [asked, most] = [nanosOf(amount) ?? 0n, nanosOf(limit) ?? 0n];
  const at = `${field}.requests`;
  if (isFixed && asked !== most) {
    return [invalidValue(at, scalar(amount), `must be equal to ${name} limit of ${scalar(limit)}`)];
  }
  if (isFixed || asked <= most) return [];
  return [invalidValue(at, scalar(amount), `must be less than or equal to ${name} limit of ${scalar(limit)}`)];
}

function hugeProblems(field: string, names: readonly string[]): FieldProblem[] {
  const needsMore = names.some(isHuge) && !names.includes("cpu") && !names.includes("memory");
  return needsMore ? [forbiddenField(field, "HugePages require cpu or memory")] : [];
}

function claimProblems(resources: Json, field: string, claims: readonly string[]): FieldProblem[] {
  const seen = new Set<string>();
  return records(resources["claims"]).flatMap((claim, i): FieldProblem[] => {
    const name = text(claim["name"]);
    const at = `${field}.claims[${i}]`;
    const key = `${name}/${text(claim["request"])}`;
    if (name === "") return neededText(at, name);
    if (seen.has(key)) return [duplicate(at, claim["request"] === undefined ? name : key)];
    seen.add(key);
    if (claims.includes(name)) return [];
    const which = claims.length === 0 ? " which is empty" : "";
    return [notFoundValue(at, name, `must be one of the names in pod.spec.resourceClaims${which}`)];
  });
}

const RESIZED = ["cpu", "memory"];
const RESIZES = ["NotRequired", "RestartContainer"];

/** What is wrong with how a container's resources may be changed while it runs. */
export function resizePolicyProblems(policies: unknown, field: string, restartPolicy: string): FieldProblem[] {
  const seen = new Set<string>();
  return records(policies).flatMap((policy) => {
    const name = text(policy["resourceName"]);
    const how = text(policy["restartPolicy"]);
    const problems: FieldProblem[] = seen.has(name) ? [duplicate(field, name)] : [];
    seen.add(name);
    problems.push(...(name === "" ? [required(field)] : supported(field, name, RESIZED)));
    problems.push(...(how === "" ? [required(field)] : supported(field, how, RESIZES)));
    if (restartPolicy !== "Never" || how !== "RestartContainer") return problems;
    const why = "must be 'NotRequired' when `restartPolicy` is 'Never'";
    return [...problems, invalidValue(field, how, why)];
  });
}
