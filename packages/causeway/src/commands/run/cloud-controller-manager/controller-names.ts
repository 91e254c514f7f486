import { controllerNames, type ControllerName } from "@causeway/cloud-controller-manager";

const longNames: Readonly<Record<string, ControllerName>> = {
  "cloud-node-controller": "cloud-node",
  "cloud-node-lifecycle-controller": "cloud-node-lifecycle",
  "service-lb-controller": "service",
  "node-route-controller": "route",
};

/** A controller by its short name, or by the long one that newer releases have. */
export function controllerNamed(word: string): ControllerName | undefined {
  return controllerNames.find((name) => name === word) ?? longNames[word];
}
