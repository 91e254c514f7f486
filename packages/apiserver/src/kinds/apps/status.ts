import { record, type Json } from "../../json/json.ts";
import { invalidValue } from "../../errors/problems.ts";
import type { FieldProblem } from "../../errors/status.ts";
import { notNegative } from "../shared/checks.ts";

const COUNTS = [
  "observedGeneration",
  "replicas",
  "updatedReplicas",
  "readyReplicas",
  "availableReplicas",
  "unavailableReplicas",
  "terminatingReplicas",
  "collisionCount",
];

/**
 * What is wrong with the numbers in a Deployment's status: each is of those that it counts among. Source: Kubernetes
 * API reference, DeploymentStatus.
 */
export function deploymentStatusProblems(now: unknown, was: unknown): FieldProblem[] {
  const status = record(now);
  const count = (name: string): number => Number(status[name] ?? 0);
  const parts = ["updatedReplicas", "readyReplicas", "availableReplicas"].filter((n) => count(n) > count("replicas"));
  return [
    ...COUNTS.flatMap((name) => notNegative(`status.${name}`, status[name])),
    ...parts.map((name) => exceeding(name, count(name), "status.replicas")),
    ...(count("availableReplicas") > count("readyReplicas")
      ? [exceeding("availableReplicas", count("availableReplicas"), "readyReplicas")]
      : []),
    ...collisionProblems(status, record(was)),
  ];
}

function exceeding(name: string, value: number, most: string): FieldProblem {
  return invalidValue(`status.${name}`, value, `cannot be greater than ${most}`);
}

function collisionProblems({ collisionCount }: Json, was: Json): FieldProblem[] {
  const before = was["collisionCount"];
  if (before === undefined || Number(collisionCount ?? -1) >= Number(before)) return [];
  return [invalidValue("status.collisionCount", collisionCount ?? 0, "cannot be decremented")];
}
