import type { TestResult } from "../support/suite-record.ts";

/** Tests whose image the cloud itself downloads: without the internet they wait for it until their time is up. */
const downloads = /\bTestAccImagesImageV2_webdownload$/;

/** A test that failed because there is no internet counts as skipped. */
export function withoutInternet(result: TestResult, cloud: "simulated" | "real"): TestResult {
  if (result.status !== "fail") return result;
  const unresolved = /dial tcp: lookup \S+ on|no such host|Error downloading image from "https?:/.test(result.reason);
  const waited = cloud === "simulated" && downloads.test(result.id) && result.reason.startsWith("not done within");
  if (!unresolved && !waited) return result;
  return { ...result, status: "skip", reason: "it downloads an image from the internet" };
}
