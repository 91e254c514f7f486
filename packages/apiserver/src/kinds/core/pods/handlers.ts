import { array, isRecord, record, records, text, type Json } from "../../../json/json.ts";
import { forbiddenField, invalidValue, required } from "../../../errors/problems.ts";
import type { FieldProblem } from "../../../errors/status.ts";
import { given, neededText, notNegative, portProblems, supported, type Problems } from "../../shared/checks.ts";

/*
 * What a kubelet does to a container: probes, and hooks of its life. Source: Kubernetes API reference, Container:
 * Lifecycle and Probe.
 */

const HEADER =
  "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";
const SCHEMES = ["HTTP", "HTTPS"];

const HANDLERS: Readonly<Record<string, (handler: Json, field: string, grace: number) => Problems>> = {
  exec: ({ command }, field) => (array(command).length === 0 ? [required(`${field}.command`)] : []),
  httpGet: (http, field) => [
    ...neededText(`${field}.path`, http["path"] ?? "/"),
    ...portProblems(`${field}.port`, http["port"]),
    ...supported(`${field}.scheme`, http["scheme"], SCHEMES),
    ...records(http["httpHeaders"])
      .map((header) => text(header["name"]))
      .filter((name) => !/^[-A-Za-z0-9]+$/.test(name))
      .map((name) => invalidValue(`${field}.httpHeaders`, name, HEADER)),
  ],
  tcpSocket: ({ port }, field) => portProblems(`${field}.port`, port),
  grpc: ({ port }, field) => portProblems(`${field}.port`, port),
  sleep: ({ seconds }, field, grace) => {
    const isLong = typeof seconds === "number" && (seconds < 0 || seconds > grace);
    const why = `must be non-negative and less than terminationGracePeriodSeconds (${grace})`;
    return isLong ? [invalidValue(field, seconds, why)] : [];
  },
};

function handlerProblems(handler: Json, field: string, grace: number): FieldProblem[] {
  const [first, ...more] = Object.keys(HANDLERS).filter((name) => given(handler, name));
  if (first === undefined) return [required(field, "must specify a handler type")];
  const others = more.map((name) => forbiddenField(`${field}.${name}`, "may not specify more than 1 handler type"));
  return [...(HANDLERS[first]?.(record(handler[first]), `${field}.${first}`, grace) ?? []), ...others];
}

const SECONDS = ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"];

/** What is wrong with a container's probes; `grace` is the pod's grace period in seconds. */
export function probeProblems(container: Json, field: string, grace: number): FieldProblem[] {
  return ["livenessProbe", "readinessProbe", "startupProbe"].flatMap((name) => {
    const probe = container[name];
    return isRecord(probe) ? oneProbe(probe, { field: `${field}.${name}`, name }, grace) : [];
  });
}

function oneProbe(probe: Json, { field, name }: { field: string; name: string }, grace: number): FieldProblem[] {
  const problems = handlerProblems(probe, field, grace);
  problems.push(...SECONDS.flatMap((s) => notNegative(`${field}.${s}`, probe[s])));
  const own = probe["terminationGracePeriodSeconds"];
  const ownField = `${field}.terminationGracePeriodSeconds`;
  if (typeof own === "number" && own <= 0) problems.push(invalidValue(ownField, own, "must be greater than 0"));
  if (name === "readinessProbe") {
    const why = "must not be set for readinessProbes";
    return own === undefined ? problems : [...problems, invalidValue(ownField, own, why)];
  }
  const successes = probe["successThreshold"];
  const isOne = successes === undefined || successes === 1;
  return isOne ? problems : [...problems, invalidValue(`${field}.successThreshold`, successes, "must be 1")];
}

/** What is wrong with the hooks of a container; a `sleep` is no longer than `grace`. */
export function lifecycleProblems(lifecycle: unknown, field: string, grace: number): FieldProblem[] {
  if (!isRecord(lifecycle)) return [];
  return ["postStart", "preStop"].flatMap((name) => {
    const hook = lifecycle[name];
    return isRecord(hook) ? handlerProblems(hook, `${field}.${name}`, grace) : [];
  });
}
