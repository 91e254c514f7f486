import { describe, expect, test } from "vitest";
import { loggingFile, withLoggingFile } from "./logging.ts";

describe("lines of logs before 2025.1", () => {
  test("come through Python's own configuration, which adds no colour, with the levels of the options", () => {
    const text = loggingFile({ DEFAULT: { debug: "true", default_log_levels: "amqp=WARN, a.b=INFO" } });
    expect(text).toContain("[logger_root]\nlevel = DEBUG\nhandlers = stderr");
    expect(text).toContain("[logger_l0]\nlevel = WARNING\nhandlers =\nqualname = amqp");
    expect(text).toContain("qualname = a.b");
    expect(text).toContain("keys = root,l0,l1");
  });

  test.each([
    ["2022.2", {}, "/etc/nova/nova.conf.d/logging.ini"],
    ["2024.2", {}, "/etc/nova/nova.conf.d/logging.ini"],
    ["2024.2", { DEFAULT: { log_config_append: "/own" } }, "/own"],
    ["2025.1", {}, undefined],
  ] as const)("%s with %j read %s", (release, open, file) => {
    expect(withLoggingFile(release, "nova", open)["DEFAULT"]?.["log_config_append"]).toBe(file);
  });
});
