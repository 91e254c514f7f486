import { describe, expect, test } from "vitest";
import { hasPython, runExporter, values } from "../testing/ovn-exporter.ts";

describe.skipIf(!hasPython)("the exporter of Open vSwitch and OVN", () => {
  test("reads counts of each datapath", () => {
    const shown = `system@ovs-system:
  lookups: hit:12 missed:3 lost:1
  flows: 7
  masks: hit:15 total:2 hit/pkt:1.00
  port 0: ovs-system (internal)
  port 1: br-int (internal)
netdev@ovs-netdev:
  lookups: hit:0 missed:0 lost:0
  flows: 0
  port 0: ovs-netdev (tap)
`;
    const found = JSON.parse(
      runExporter(`print(json.dumps([list(each) for each in e.switch(${JSON.stringify(shown)})]))`),
    );
    expect(found).toContainEqual([
      "causeway_ovs_datapath_lookups_total",
      { datapath: "system@ovs-system", result: "lost" },
      1,
    ]);
    expect(found).toContainEqual(["causeway_ovs_datapath_flows", { datapath: "system@ovs-system" }, 7]);
    expect(found).toContainEqual(["causeway_ovs_datapath_ports", { datapath: "system@ovs-system" }, 2]);
    expect(found).toContainEqual(["causeway_ovs_datapath_ports", { datapath: "netdev@ovs-netdev" }, 1]);
    expect(found).toHaveLength(10);
  });

  test("says of a process that does not respond that it is not up, and nothing else", () => {
    const text = runExporter(`e.SOCKETS["northd"] = "/nonexistent/northd.ctl"; print(e.report("northd"), end="")`, {
      DEPLOYMENT: "openstack/cloud",
      COMPONENT: "ovn-northd",
    });
    expect(values(text)).toEqual(['causeway_ovn_up{deployment="openstack/cloud",component="ovn-northd"} 0']);
    expect(text).toContain("# TYPE causeway_ovn_up gauge");
  });
});
