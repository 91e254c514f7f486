import type { KubeObject } from "@causeway/kubernetes";
import type { MaybePromise } from "../json/maybe-promise.ts";
import type { WebhookClient } from "./webhooks.ts";

/** Turns objects of one kind into another of its versions. Never changes what it is given. */
export interface Converter {
  /** A webhook is called. */
  readonly remote?: true;
  /** As many objects as came, in their order, each of `apiVersion`. None of the given ones is of it already. */
  convert(objects: readonly KubeObject[], apiVersion: string): MaybePromise<readonly KubeObject[]>;
}

/** The strategy None: versions differ in nothing but their name. */
export const renaming: Converter = {
  convert: (objects, apiVersion) => objects.map((object) => ({ ...object, apiVersion })),
};

/**
 * Converts the objects of one kind in this process, in the place of the webhook that its CRD may name. Like a
 * webhook it may change labels and annotations, and no other metadata.
 */
export interface KindConversion {
  readonly group: string;
  readonly kind: string;
  /** The version that all others convert to and from: "v1beta2". */
  readonly hub: string;
  /** By version, all but the hub. */
  readonly spokes: Readonly<Record<string, Spoke>>;
}

/**
 * To and from the hub version. Each gets an object that is its own to change, and gives one back; neither waits for
 * anything.
 */
export interface Spoke {
  readonly toHub: (object: KubeObject) => KubeObject;
  readonly fromHub: (object: KubeObject) => KubeObject;
}

/** What the server converts a CRD's objects with, in addition to the CRD itself. */
export interface Conversions {
  /** The conversion that this process brings for a kind. */
  registered(group: string, kind: string): KindConversion | undefined;
  readonly webhooks: WebhookClient;
}
