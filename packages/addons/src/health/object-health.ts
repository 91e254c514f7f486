import { isRecord } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";

/** Undefined: it works, or there is nothing to judge it by. Else why it does not work. */
export function objectProblem(object: KubeObject): string | undefined {
  const { kind } = object;
  const judge = judges[kind];
  if (!judge) return undefined;
  const { spec, status } = object as { spec?: unknown; status?: unknown };
  return judge({
    spec: isRecord(spec) ? spec : {},
    status: isRecord(status) ? status : {},
    generation: object.metadata.generation ?? 0,
  });
}

/** Kinds whose state matters. */
export function isJudged(kind: string): boolean {
  return Object.hasOwn(judges, kind);
}

interface Facts {
  readonly spec: Record<string, unknown>;
  readonly status: Record<string, unknown>;
  readonly generation: number;
}

const count = (value: unknown): number => (typeof value === "number" ? value : 0);

const judges: Readonly<Record<string, (facts: Facts) => string | undefined>> = {
  Deployment: (facts) => replicas(facts, facts.spec["replicas"] ?? 1, "availableReplicas", "updatedReplicas"),
  StatefulSet: (facts) => replicas(facts, facts.spec["replicas"] ?? 1, "readyReplicas", "updatedReplicas"),
  DaemonSet: (facts) =>
    replicas(facts, facts.status["desiredNumberScheduled"], "numberAvailable", "updatedNumberScheduled"),
  Job: ({ status }) => condition(status, "Complete", "it has not ended"),
  CustomResourceDefinition: ({ status }) => condition(status, "Established", "it is not established"),
  APIService: ({ status }) => condition(status, "Available", "it is not available"),
  Pod: ({ status }) => condition(status, "Ready", "it is not ready"),
};

function replicas(
  { status, generation }: Facts,
  wanted: unknown,
  available: string,
  updated: string,
): string | undefined {
  if (count(status["observedGeneration"]) < generation) return "its newest spec was not observed yet";
  if (count(status[updated]) < count(wanted)) return `${count(status[updated])} of ${count(wanted)} pods are updated`;
  if (count(status[available]) < count(wanted))
    return `${count(status[available])} of ${count(wanted)} pods are available`;
  return undefined;
}

function condition(status: Record<string, unknown>, type: string, otherwise: string): string | undefined {
  const conditions = Array.isArray(status["conditions"]) ? status["conditions"] : [];
  const found = conditions.find((each: unknown) => isRecord(each) && each["type"] === type) as
    | { status?: unknown; message?: unknown }
    | undefined;
  if (found?.status === "True") return undefined;
  return typeof found?.message === "string" && found.message !== ""
    ? `${otherwise}: ${found.message.slice(0, 500)}`
    : otherwise;
}
