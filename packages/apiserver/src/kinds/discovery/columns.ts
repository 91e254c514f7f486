import type { Column } from "../../contract/resource.ts";
import { array, records, scalar } from "../../json/json.ts";
import { abridged, field } from "../../tables/cells.ts";
import { AGE, NAME } from "../../tables/table.ts";

/** As `kubectl get endpointslices` prints them. */
export const ENDPOINT_SLICE_COLUMNS: readonly Column[] = [
  NAME,
  field("AddressType", "addressType"),
  {
    name: "Ports",
    cell: (o) =>
      abridged(
        records(o["ports"]).map((p) => scalar(p["port"] ?? p["name"]) || "*"),
        "<unset>",
      ),
  },
  {
    name: "Endpoints",
    cell: (o) => {
      return abridged(
        records(o["endpoints"]).flatMap((e) => array(e["addresses"]).map(String)),
        "<unset>",
      );
    },
  },
  AGE,
];
