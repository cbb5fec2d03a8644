import type { GlobalPosition } from '../../domain/event.ts';

/**
 * How far the read models of the installation have followed the log. Positions come from this process, from signals and
 * from the checkpoints.
 */
export type ProjectionProgress = {
  /**
   * Resolves to true when every named read model has reached the position, and to false after `timeoutMs`.
   * @throws `projection_stopped` when one of them has stopped
   */
  waitFor(names: readonly string[], position: GlobalPosition, timeoutMs: number): Promise<boolean>;
  /** @returns the latest known checkpoint of a read model; the origin when none is known */
  position(name: string): GlobalPosition;
  /**
   * Calls the listener after every move of the read model. `applied` is false when it is known that the move only
   * passed events of other categories. @returns a function that removes the listener
   */
  onMove(name: string, listener: (position: GlobalPosition, applied: boolean) => void): () => void;
};
