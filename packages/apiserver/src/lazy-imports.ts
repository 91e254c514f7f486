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

/** JSON Web Tokens and keys, for tokens of service accounts and of OIDC issuers. */
export function jose(): typeof Jose {
  return load("jose") as typeof Jose;
}

/** The kit of clients; here it reads the kubeconfig files of authentication webhooks. */
export function kubernetes(): typeof Kubernetes {
  return load("@causeway/kubernetes") as typeof Kubernetes;
}

/** The client of KMS v2 plugins, for encryption at rest. */
export function kms(): typeof Kms {
  return load("@causeway/kms") as typeof Kms;
}
