/** A label with flags that is refused costs little, whatever is in it. */
import { expect, it } from "vitest";
import { refusedLabel } from "./labels.ts";

it.each(["kubelet_options", "kubeapi_options", "kubecontroller_options", "kubescheduler_options"])(
  "%s is refused at its first wrong flag, and without looking for it when it is long",
  (label) => {
    const options = (count: number) => Array.from({ length: count }, (_, at) => `--eviction-hart${at}=1`).join(" ");
    const took = (value: string): number => {
      const begun = performance.now();
      expect(refusedLabel({ [label]: value })).toContain(`label ${label} is refused: `);
      return performance.now() - begun;
    };
    took(options(1));
    const best = (value: string): number => Math.min(...Array.from({ length: 5 }, () => took(value)));
    // 200 wrong flags cost what one costs, not 200 times as much.
    expect(best(options(200))).toBeLessThan(best(options(1)) * 20 + 1);
    expect(best(`--${"x".repeat(4_000)}`)).toBeLessThan(5);
    expect(refusedLabel({ [label]: options(300) })).toContain("it is longer than 4096 characters");
  },
);
