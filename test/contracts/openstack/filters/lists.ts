import { balancerLists } from "./balancer-lists.ts";
import { computeLists } from "./compute-lists.ts";
import { identityLists } from "./identity-lists.ts";
import { imageLists } from "./image-lists.ts";
import { keyLists } from "./key-lists.ts";
import type { FilteredList } from "./list.ts";
import { networkLists } from "./network-lists.ts";
import { placementLists } from "./placement-lists.ts";
import { shareLists } from "./share-lists.ts";
import { volumeLists } from "./volume-lists.ts";

/** Every list that is requested with each of its filters. */
export const filteredLists: readonly FilteredList[] = [
  ...networkLists,
  ...computeLists,
  ...volumeLists,
  ...imageLists,
  ...balancerLists,
  ...identityLists,
  ...keyLists,
  ...shareLists,
  ...placementLists,
];
