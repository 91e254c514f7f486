export { AddonSet, CATALOGUE_ADDONS, type AddonSetSpec, type AddonSetStatus } from "./addon-set.ts";
export {
  ClusterResourceSet,
  type ClusterResourceSetSpec,
  type ClusterResourceSetStatus,
} from "./cluster-resource-set.ts";
export { ClusterResourceSetBinding, type ClusterResourceSetBindingSpec } from "./cluster-resource-set-binding.ts";
