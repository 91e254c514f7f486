/**
 * The recorded answers to raw HTTP (test/contracts/openstack/truth) are still those of the real cloud. With
 * CAUSEWAY_RECORD=1 what is seen is recorded again.
 */
import { describe } from "vitest";
import { loadCloudsYaml } from "@causeway/openstack";
import { containerInfraGroups } from "../contracts/openstack/cases/container-infra.ts";
import { groups } from "../contracts/openstack/groups.ts";
import { declareRawSuite } from "../contracts/openstack/suite.ts";

describe("the real cloud answers as was recorded", () => {
  const name = process.env["OS_CLOUD"] ?? "devcloud";
  const of = (suffix: string) => loadCloudsYaml({ cloud: `${name}${suffix}` });
  const accounts = () => ({ member: of(""), admin: of("-admin"), alt: of("-alt"), reader: of("-reader") });
  declareRawSuite({
    accounts,
    groups: [...groups, ...containerInfraGroups],
    recording: process.env["CAUSEWAY_RECORD"] === "1",
  });
});
