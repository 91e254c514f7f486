import { createRequire } from "node:module";
import type * as Kms from "@causeway/kms";
import type * as Kubernetes from "@causeway/kubernetes";
import type * as Jose from "jose";
import type * as Yaml from "yaml";

/*
 * Libraries that a server needs only for some requests. Each is loaded when it is first used, at once, so that
 * starting does not wait for it.
 */
const load = createRequire(import.meta.url);

let loadedYaml: typeof Yaml | undefined;

/** To find a library again takes many times as long as to use it for one node of a text. */
export function yaml(): typeof Yaml {
  return (loadedYaml ??= load("yaml") as typeof Yaml);
}

export function jose(): typeof Jose {
  return load("jose") as typeof Jose;
}

export function kubernetes(): typeof Kubernetes {
  return load("@causeway/kubernetes") as typeof Kubernetes;
}

export function kms(): typeof Kms {
  return load("@causeway/kms") as typeof Kms;
}
