/**
 * The recorded filters (test/contracts/openstack/filters/truth) are still the real cloud's. With CAUSEWAY_RECORD=1 they
 * are recorded again.
 */
import { describe } from "vitest";
import { loadCloudsYaml } from "@causeway/openstack";
import { declareFilterSuite } from "../contracts/openstack/filters/suite.ts";

describe("the real cloud filters as was recorded", () => {
  const name = process.env["OS_CLOUD"] ?? "devcloud";
  const of = (suffix: string) => loadCloudsYaml({ cloud: `${name}${suffix}` });
  const accounts = () => ({ member: of(""), admin: of("-admin"), alt: of("-alt"), reader: of("-reader") });
  const stride = Number(process.env["CAUSEWAY_FILTER_STRIDE"] ?? 1);
  if (!Number.isInteger(stride) || stride < 1) throw new Error("CAUSEWAY_FILTER_STRIDE is not a whole number from 1");
  declareFilterSuite({ accounts, recording: process.env["CAUSEWAY_RECORD"] === "1", stride });
});
