import { expect, test } from "vitest";
import type { TestResult } from "../support/suite-record.ts";
import { withoutInternet } from "./internet.ts";

const failed = (id: string, reason: string): TestResult => ({ id: `images.${id}`, status: "fail", reason });

test("a test that resolved no name on the internet counts as skipped", () => {
  const reason = 'Get "https://github.com/x": dial tcp: lookup github.com: no such host';
  expect(withoutInternet(failed("TestAccImagesImageV2_basic", reason), "simulated").status).toBe("skip");
});

test("a test whose download failed counts as skipped, however long its addresses are", () => {
  const reason = 'Error opening file for Image: Error downloading image from "https://releases.example.org/an-image';
  expect(withoutInternet(failed("TestAccImagesImageV2_basic", reason), "simulated").status).toBe("skip");
});

test("a test whose image the cloud never got counts as skipped on the simulated cloud alone", () => {
  const waited = failed("TestAccImagesImageV2_webdownload", "not done within 300 s; ");
  expect(withoutInternet(waited, "simulated").status).toBe("skip");
  expect(withoutInternet(waited, "real").status).toBe("fail");
});

test("any other failure is a failure", () => {
  expect(withoutInternet(failed("TestAccImagesImageV2_name", "not done within 300 s; "), "simulated").status).toBe(
    "fail",
  );
  expect(withoutInternet(failed("TestAccImagesImageV2_webdownload", "Image not found"), "simulated").status).toBe(
    "fail",
  );
});
