import { useEffect, useRef, useState } from 'react';
import { useEditable } from '../../api/session';
import { hrefOf } from '../../route';
import { Failure } from '../Failure';
import { shownName } from '../place';
import { ImportForm } from './ImportForm';
import { useImport, type ImportState } from './useImport';

interface Props {
  /** Files that were dropped, of which the first one is imported. Without any, the user chooses one here. */
  files: readonly File[];
  /** The collection that is shown. */
  collection: string;
  onStored: () => void;
  onRunning: (running: boolean) => void;
  onClose: () => void;
}

/** Imports a file into a collection. */
export function ImportPanel({ files, collection, onStored, onRunning, onClose }: Props) {
  const [file, setFile] = useState(files[0]);
  const [into, setInto] = useState(collection);
  const { state, start, stop, again } = useImport(file, onStored);
  const editable = useEditable();
  const heading = useRef<HTMLHeadingElement>(null);
  const running = state.step === 'running';
  useEffect(() => {
    onRunning(running);
    return () => onRunning(false);
  }, [onRunning, running]);
  useEffect(() => heading.current?.focus(), []);
  return (
    <section className="import" aria-label="Import">
      <h2 ref={heading} tabIndex={-1}>Import {file && <bdi>{shownName(file.name)}</bdi>}</h2>
      {files.length > 1 && <p>Files are imported one at a time. The other {files.length - 1} can be dropped afterwards.</p>}
      {editable === false && <p>Only reading is allowed here, so nothing can be imported.</p>}
      {editable !== false && state.step === 'asking' && (
        <ImportForm
          file={file}
          collection={into}
          ready={editable === true}
          onFile={setFile}
          onImport={(options) => (setInto(options.collection), start(options))}
          onCancel={onClose}
        />
      )}
      {file && state.step !== 'asking' && <Progress state={state} size={file.size} />}
      {state.step === 'running' && (
        <div className="buttons">
          <button type="button" disabled={state.stopping} onClick={stop}>{state.stopping ? 'Stopping …' : 'Cancel'}</button>
        </div>
      )}
      {state.step === 'ended' && state.error && <div><Failure error={state.error} /></div>}
      {state.step === 'ended' && (
        <div className="buttons">
          <a href={hrefOf('c', into)} onClick={onClose}>Open <bdi>{shownName(into)}</bdi></a>
          {(state.error || state.stopped) && <button type="button" onClick={again}>Import again</button>}
          <button type="button" onClick={onClose}>Close</button>
        </div>
      )}
      {editable === false && <div className="buttons"><button type="button" onClick={onClose}>Close</button></div>}
    </section>
  );
}

function Progress({ state, size }: { state: Exclude<ImportState, { step: 'asking' }>; size: number }) {
  const { documents, bytes } = state.progress;
  const running = state.step === 'running';
  const count = `${documents.toLocaleString('en')} ${documents === 1 ? 'document' : 'documents'}`;
  return (
    <>
      {running && <progress aria-label="Bytes that are read" max={size} value={bytes} />}
      <p role="status">
        {running && `${count} stored, ${bytesOf(bytes)} of ${bytesOf(size)} read.`}
        {!running && !state.error && (state.stopped ? `Canceled. ${keptOf(documents)}` : `${count} imported.`)}
        {!running && state.error && `Stopped. ${keptOf(documents)}`}
      </p>
    </>
  );
}

function keptOf(documents: number): string {
  if (documents === 0) return 'Nothing was stored.';
  return documents === 1 ? 'The first document is stored and stays.' : `The first ${documents.toLocaleString('en')} documents are stored and stay.`;
}

function bytesOf(bytes: number): string {
  const format = (value: number) => value.toLocaleString('en', { maximumFractionDigits: 1 });
  return bytes < 2 ** 20 ? `${format(bytes / 2 ** 10)} KiB` : `${format(bytes / 2 ** 20)} MiB`;
}
