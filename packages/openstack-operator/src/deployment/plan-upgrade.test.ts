/** Plans of a deployment that is upgraded. */
import { beforeAll, describe, expect, test } from "vitest";
import { PlayedDeployment, spec } from "../testing/deployed.ts";

describe("an upgrade", () => {
  let older: PlayedDeployment;
  beforeAll(async () => {
    older = new PlayedDeployment();
    older.spec = { ...spec, release: "2024.2" };
    await older.settle();
  });
  const upgraded = () => {
    const copy = older.copy();
    copy.spec = spec;
    return copy;
  };

  test("limits messages to the release that is left until no process of it runs, and ends with the new release", async () => {
    const copy = upgraded();
    const seen: string[] = [];
    const passes = await copy.settle(({ phase, status }) => {
      if (phase !== "Upgrading") return true;
      seen.push(`${status.upgrade?.step} ${copy.options.map(({ messagesOf }) => messagesOf).join(" ")}`);
      for (const { upgradeFrom } of copy.options) expect(upgradeFrom).toBe("2024.2");
      return false;
    });
    const last = passes.pop();
    expect(last).toMatchObject({ phase: "Ready", status: { release: "2025.1" } });
    expect(last?.status).not.toHaveProperty("upgrade");
    expect(last?.names.every((name) => name.startsWith("delete "))).toBe(true);
    const releases = new Set(passes.map(({ status }) => status.release));
    expect(releases).toEqual(new Set(["2024.2"]));
    expect([...new Set(seen)]).toEqual([
      "UpgradeChecked 2024.2",
      "PlacementUpdated 2024.2",
      "NovaApiSchemaExpanded 2024.2",
      "NovaCellSchemasExpanded 2024.2",
      "NovaConductorsUpdated 2024.2",
      "NovaSchedulerUpdated 2024.2",
      "NovaApiUpdated 2024.2",
      "ComputeNodesUpdated 2024.2",
      "NovaMessagesUnpinned 2024.2 2025.1",
      "DataMigrated 2024.2 2025.1",
    ]);
    const conditions = copy.status?.conditions?.filter(({ type }) => type === "NovaMessagesUnpinned");
    expect(conditions).toMatchObject([{ status: "True" }]);
    await copy.settle();
    expect(copy.options).toMatchObject([{ messagesOf: "2025.1" }]);
  });

  test("that fails holds back rotations and backups, and one that lacks failed rows alone holds back neither", async () => {
    const backup = { target: { claim: "backups" }, keys: { name: "passphrase" } };
    const under = async (failed: string) => {
      const copy = upgraded();
      copy.failed = [failed];
      await copy.settle();
      expect(copy.status).toMatchObject({ phase: "Upgrading", release: "2024.2" });
      const doing = (rotation: object) => {
        copy.spec = { ...spec, rotation };
        return copy.plan().status.rotation?.step;
      };
      const steps = [doing({ passwords: 1 }), doing({ keys: 1 })];
      copy.spec = { ...spec, backup };
      return [...steps, copy.plan().status.backup?.step];
    };
    const waits = "waits until every component is ready";
    expect(await under("nova-upgrade-check")).toEqual([waits, waits, waits]);
    expect(await under("nova-online-migrations")).toEqual([
      "makes second accounts",
      "replaces keys",
      "keystone-db-backup runs",
    ]);
  });
});
