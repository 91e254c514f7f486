import type { Step } from "./input.ts";
import { FIXED, NAMESPACE, objectOf, pathOf, PLURALS } from "./objects.ts";

const COPIES = 20;

/** Creates the namespace of the run, one object of each kind that inputs patch, and some ConfigMaps to list. */
export function fixtures(): Step[] {
  const post = (path: string, body: unknown): Step => ({
    method: "POST",
    path,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } };
  const copies = Array.from({ length: COPIES }, (_, i) => objectOf("configmaps", `copy-${i}`));
  return [
    post("/api/v1/namespaces", namespace),
    ...PLURALS.map((plural) => post(pathOf(plural), objectOf(plural, FIXED))),
    ...copies.map((object) => post(pathOf("configmaps"), object)),
  ];
}
