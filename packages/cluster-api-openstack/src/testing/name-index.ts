import type { ClusterCloud } from "../openstackcluster/model.ts";
import type { NameIndex } from "../resources/of-name.ts";

/** The lists of a cloud with an index of their names, which has its own order, as that of an informer. */
export function withNameIndex(cloud: ClusterCloud): ClusterCloud & { readonly nameIndex: NameIndex } {
  const find =
    <T extends { readonly name: string }>(list: readonly T[]) =>
    (name: string): readonly T[] =>
      list.filter((each) => each.name === name).toReversed();
  const { networks, subnets, routers, securityGroups } = cloud;
  const nameIndex = {
    networks: find(networks),
    subnets: find(subnets),
    routers: find(routers),
    securityGroups: find(securityGroups),
  };
  return { ...cloud, nameIndex };
}
