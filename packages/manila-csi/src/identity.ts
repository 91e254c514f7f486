import { CausewayError, messageOf } from "@causeway/foundation";
import {
  PluginCapability_Service_Type as Service,
  PluginCapability_VolumeExpansion_Type as Expansion,
  type IdentityImpl,
} from "@causeway/csi";
import { DRIVER_NAME, DRIVER_VERSION } from "./names.ts";
import type { ProxiedDriver } from "./node/forward.ts";

/** What the identity service says about the driver. */
export interface IdentityOptions {
  /** Of this program. */
  readonly version: string;
  readonly driverName?: string;
  readonly withTopology?: boolean;
  /** Of a driver with the node service: the probe is its probe. */
  readonly proxied?: ProxiedDriver;
}

/** The identity service of CSI. A probe throws CSI_FAILED_PRECONDITION while the proxied driver does not respond. */
export function createIdentity(options: IdentityOptions): IdentityImpl {
  const { version, driverName = DRIVER_NAME, withTopology = false, proxied } = options;
  return {
    getPluginInfo: () => ({ name: driverName, vendorVersion: `${DRIVER_VERSION}@${version}` }),
    getPluginCapabilities: () => ({
      capabilities: [
        { type: { case: "service", value: { type: Service.CONTROLLER_SERVICE } } },
        { type: { case: "volumeExpansion", value: { type: Expansion.ONLINE } } },
        ...(withTopology
          ? [{ type: { case: "service" as const, value: { type: Service.VOLUME_ACCESSIBILITY_CONSTRAINTS } } }]
          : []),
      ],
    }),
    async probe(_, { signal }) {
      if (!proxied) return { ready: true };
      try {
        return await proxied.call(({ identity }) => identity.probe({}, { signal }));
      } catch (error) {
        throw new CausewayError("CSI_FAILED_PRECONDITION", `The driver cannot work: ${messageOf(error)}`, {
          cause: error,
        });
      }
    },
  };
}
