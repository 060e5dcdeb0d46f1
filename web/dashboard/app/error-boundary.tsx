import { Component, type ComponentChildren } from 'preact';
import { Button } from '../ui/button.tsx';
import { Notice } from '../ui/notice.tsx';

/** Shows that a page failed, in place of the page. The error itself stays in the browser's console: it may quote content. */
export class ErrorBoundary extends Component<{ readonly children: ComponentChildren }, { failed: boolean }> {
  override state = { failed: false };

  static override getDerivedStateFromError = (): { failed: boolean } => ({ failed: true });

  override render() {
    if (!this.state.failed) return this.props.children;
    return (
      <Notice tone="block" title="This page failed">
        <p>This is a bug in guardsweep. The run was not changed.</p>
        <Button onClick={() => location.reload()}>Load the page again</Button>
      </Notice>
    );
  }
}
