import type { AddonSetSpec } from "@causeway/api";
import type { Probe } from "../health/prober.ts";
import type { ManifestObject } from "../manifests/parse.ts";

/** What built-in add-ons follow of their cluster. */
export interface ClusterFacts {
  /** Where nodes reach the API, such as "https://192.0.2.1:6443". */
  readonly server: string;
  /** "v1.34.4" */
  readonly version: string;
  readonly podCidr: string;
  /** The cluster's first Service address, and the one of its DNS. */
  readonly serviceAddress: string;
  readonly dnsAddress: string;
  readonly dnsDomain: string;
  /** Of a hosted control plane: what runs it. Undefined: not hosted, or not started yet. */
  readonly runtime?: string | undefined;
}

/** `catalogue` of an add-on in the spec: which built-in add-on, and how it is to be. */
export type CatalogueChoice = NonNullable<AddonSetSpec["addons"][number]["catalogue"]>;

/** What a built-in add-on consists of. */
export interface BuiltIn {
  readonly objects: readonly ManifestObject[];
  /** Proofs that it works. */
  readonly probes: readonly Probe[];
}

/** The image of a choice: as it says, or the built-in one, in the registry that it names. */
export function imageOf({ image, imagePrefix }: CatalogueChoice, builtIn: string): string {
  if (image !== undefined) return image;
  if (imagePrefix === undefined) return builtIn;
  return `${imagePrefix.replace(/\/+$/, "")}/${builtIn.slice(builtIn.lastIndexOf("/") + 1)}`;
}
