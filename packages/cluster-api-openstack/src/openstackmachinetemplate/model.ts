import type { OpenStackMachine, OpenStackMachineTemplate } from "@causeway/api";
import type { Flavor, Image } from "@causeway/openstack";
import type { IdentityState } from "../identity/state.ts";
import type { ImageReference } from "../openstackmachine/model.ts";

/** What a template is compared with. */
export interface TemplateCloud {
  readonly flavors: readonly Flavor[];
  readonly images: readonly Image[];
}

/** Everything that the planner reads. */
export interface Observed {
  readonly object: OpenStackMachineTemplate;
  readonly paused: boolean;
  /** Undefined: the template is of no cluster and names no credentials, as one of a ClusterClass. */
  readonly identity: IdentityState<TemplateCloud> | undefined;
  /** What the template's image.imageRef leads to. */
  readonly image: ImageReference | undefined;
  /** Machines that were made from it. */
  readonly machines: readonly OpenStackMachine[];
}
