import { Presets, SingleBar } from "cli-progress";

const MEGABYTE = 1_000_000;

/** A bar on the terminal, where there is one; silent elsewhere. */
export class TransferProgress {
  readonly #bar: SingleBar | null;

  /** @param totalBytes 0 when it is not known */
  constructor(totalBytes: number) {
    const format = totalBytes > 0 ? "{bar} {percentage} % | {value} of {total} MB" : "{value} MB";
    this.#bar = process.stderr.isTTY
      ? new SingleBar({ format, hideCursor: true, stream: process.stderr }, Presets.shades_classic)
      : null;
    this.#bar?.start(Math.ceil(totalBytes / MEGABYTE), 0);
  }

  at(bytes: number): void {
    this.#bar?.update(Math.round(bytes / MEGABYTE));
  }

  end(): void {
    this.#bar?.stop();
  }
}
