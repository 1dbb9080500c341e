/**
 * A one-time signal that fails a wait at once, whoever rings it first. Unlike a race against one long-lived promise
 * it leaves nothing behind for each wait.
 */
export class Interruption {
  #rung: { readonly reason: unknown } | null = null;
  #fail: ((reason: unknown) => void) | null = null;

  /** Fails the wait at hand and all later ones with the reason. Only the first counts. */
  ring(reason: unknown): void {
    if (this.#rung) return;
    this.#rung = { reason };
    this.#fail?.(reason);
  }

  /** Settles like the promise, or fails as soon as somebody rings. A promise that is left behind may still fail. */
  wait<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      promise.then(resolve, reject);
      this.#fail = reject;
      if (this.#rung) reject(this.#rung.reason);
    });
  }
}
