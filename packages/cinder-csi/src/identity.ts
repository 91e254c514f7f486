import { CausewayError, messageOf, systemClock, unlessAborted, type Clock } from "@causeway/foundation";
import {
  PluginCapability_Service_Type as Service,
  PluginCapability_VolumeExpansion_Type as Expansion,
  type IdentityImpl,
} from "@causeway/csi";
import { DRIVER_NAME, DRIVER_VERSION } from "./names.ts";

/** The version and the readiness of a driver. */
export interface IdentityOptions {
  /** Of this program. */
  readonly version: string;
  readonly withTopology?: boolean;
  /** Rejects when the driver cannot work. */
  readonly check?: (signal: AbortSignal) => Promise<void>;
  readonly clock?: Clock;
}

/**
 * A probe's result is used again for so long (ms): the probe of each of five sidecars must not cost the cloud a call.
 */
const KEEP = 30_000;

/** CSI's Identity service: the driver's name and what it can do. */
export function createIdentity({
  version,
  withTopology = true,
  check,
  clock = systemClock,
}: IdentityOptions): IdentityImpl {
  let checked: { readonly at: number; readonly result: Promise<void> } | undefined;
  return {
    getPluginInfo: () => ({ name: DRIVER_NAME, vendorVersion: `${DRIVER_VERSION}@${version}` }),
    getPluginCapabilities: () => ({
      capabilities: [
        { type: { case: "service", value: { type: Service.CONTROLLER_SERVICE } } },
        { type: { case: "service", value: { type: Service.GROUP_CONTROLLER_SERVICE } } },
        { type: { case: "volumeExpansion", value: { type: Expansion.ONLINE } } },
        { type: { case: "volumeExpansion", value: { type: Expansion.OFFLINE } } },
        ...(withTopology
          ? [{ type: { case: "service" as const, value: { type: Service.VOLUME_ACCESSIBILITY_CONSTRAINTS } } }]
          : []),
      ],
    }),
    async probe(_, { signal }) {
      if (!check) return { ready: true };
      if (checked === undefined || clock.now() - checked.at > KEEP) {
        // Not with the signal of this call, with which it would end for the others.
        checked = { at: clock.now(), result: check(new AbortController().signal) };
        checked.result.catch(() => {});
      }
      const { result } = checked;
      try {
        await unlessAborted(result, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (checked?.result === result) checked = undefined;
        throw new CausewayError("CSI_FAILED_PRECONDITION", `The driver cannot work: ${messageOf(error)}`, {
          cause: error,
        });
      }
      return { ready: true };
    },
  };
}
