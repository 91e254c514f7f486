/** A label with flags that is refused costs little, whatever is in it. */
import { expect, it, vi } from "vitest";
import { refusedLabel } from "./labels.ts";

it.each(["kubelet_options", "kubeapi_options", "kubecontroller_options", "kubescheduler_options"])(
  "%s is refused at its first wrong flag, and without a search for the nearest when it is long",
  (label) => {
    const options = (count: number) => Array.from({ length: count }, (_, at) => `--eviction-hart${at}=1`).join(" ");
    // Each search for the nearest flag sorts all flags once.
    const searches = (value: string): number => {
      const sorted = vi.spyOn(Array.prototype, "toSorted");
      try {
        expect(refusedLabel({ [label]: value })).toContain(`label ${label} is refused: `);
        return sorted.mock.calls.length;
      } finally {
        sorted.mockRestore();
      }
    };
    const one = searches(options(1));
    expect(one).toBeGreaterThan(0);
    expect(searches(options(200))).toBe(one);
    expect(searches(`--${"x".repeat(4_000)}`)).toBeLessThan(one);
    expect(refusedLabel({ [label]: options(300) })).toContain("it is longer than 4096 characters");
  },
);
